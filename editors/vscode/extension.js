// The extension: starts `liftc lsp` and restarts it when its path changes.

const { commands, window, workspace } = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

async function start() {
  const command = workspace.getConfiguration('lift').get('server.path') || 'liftc';
  const server = { command, args: ['lsp'], transport: TransportKind.stdio };
  const options = { documentSelector: [{ language: 'lift' }] };
  client = new LanguageClient('lift', 'Lift', server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `Lift: \`${command} lsp\` cannot be started: ${error.message}. ` +
        'Install it by `cargo install liftc`, or set lift.server.path. Highlighting works without it.',
    );
  }
}

async function stop() {
  const old = client;
  client = undefined;
  await old?.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async context => {
  context.subscriptions.push(
    commands.registerCommand('lift.restart', restart),
    workspace.onDidChangeConfiguration(change => change.affectsConfiguration('lift.server.path') && restart()),
  );
  await start();
};

exports.deactivate = stop;
