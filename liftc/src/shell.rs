//! Shell completions and manual pages, generated from the definition of the command line.

use crate::cli::{Cli, CompletionsArgs, ManArgs};
use crate::failure::{Outcome, input};
use crate::output::{create_folder, print, why, write_file};
use clap::CommandFactory;
use clap_mangen::Man;

/// Prints the completions of a shell.
pub fn completions(args: &CompletionsArgs) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "liftc", &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// Prints the main manual page, or writes a page for each command to a directory.
pub fn man(args: &ManArgs) -> Outcome {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.dir else {
        return print(&page(&Man::new(command))?);
    };
    let _folder = create_folder(folder)?;
    let commands: Vec<_> = command.get_subcommands().cloned().collect();
    for command in commands.into_iter().chain([command]) {
        let man = Man::new(command);
        let text = page(&man)?;
        write_file(&folder.join(man.get_filename()), |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

fn page(man: &Man) -> Outcome<String> {
    let mut text = Vec::new();
    man.render(&mut text).map_err(|e| input(format!("the manual cannot be written: {}", why(&e))))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
