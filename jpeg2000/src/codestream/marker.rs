//! Marker codes (Table A.2).

pub const SOC: u16 = 0xff4f;
pub const CAP: u16 = 0xff50;
pub const SIZ: u16 = 0xff51;
pub const COD: u16 = 0xff52;
pub const COC: u16 = 0xff53;
pub const TLM: u16 = 0xff55;
pub const PLM: u16 = 0xff57;
pub const PLT: u16 = 0xff58;
pub const CPF: u16 = 0xff59;
pub const QCD: u16 = 0xff5c;
pub const QCC: u16 = 0xff5d;
pub const RGN: u16 = 0xff5e;
pub const POC: u16 = 0xff5f;
pub const PPM: u16 = 0xff60;
pub const PPT: u16 = 0xff61;
pub const CRG: u16 = 0xff63;
pub const COM: u16 = 0xff64;
pub const SOT: u16 = 0xff90;
pub const SOP: u16 = 0xff91;
pub const EPH: u16 = 0xff92;
pub const SOD: u16 = 0xff93;
pub const EOC: u16 = 0xffd9;

/// Extensions of Part 2 that change how a stream decodes.
pub const PART_2: [(u16, &str); 9] = [
    (0xff70, "DCO"),
    (0xff71, "VMS"),
    (0xff72, "DFS"),
    (0xff73, "ADS"),
    (0xff74, "MCT"),
    (0xff75, "MCC"),
    (0xff76, "NLT"),
    (0xff77, "MCO"),
    (0xff79, "ATK"),
];

/// Marker segment of a codestream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Position in the codestream.
    pub at: usize,
    /// The marker.
    pub code: u16,
    /// Length of its parameters in bytes, without the marker.
    pub length: usize,
    /// Tile, unless the segment is one of the main header.
    pub tile: Option<u32>,
}

/// Abbreviation of a marker.
pub fn name_of(code: u16) -> &'static str {
    match code {
        SOC => "SOC",
        CAP => "CAP",
        SIZ => "SIZ",
        COD => "COD",
        COC => "COC",
        TLM => "TLM",
        PLM => "PLM",
        PLT => "PLT",
        CPF => "CPF",
        QCD => "QCD",
        QCC => "QCC",
        RGN => "RGN",
        POC => "POC",
        PPM => "PPM",
        PPT => "PPT",
        CRG => "CRG",
        COM => "COM",
        SOT => "SOT",
        SOD => "SOD",
        EOC => "EOC",
        other => PART_2.iter().find(|(code, _)| *code == other).map_or("unknown", |(_, name)| name),
    }
}
