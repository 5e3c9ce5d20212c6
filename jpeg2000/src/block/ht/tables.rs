//! Code tables: VLC of Annex C and U-VLC of Table 3 of T.814, as lookup tables for both directions.
//!
//! The VLC data keeps one row of Annex C in seven hexadecimal digits: context + 8 u_off, ρ, e_k, e_1, two digits of
//! codeword, length. Codewords are read from their least significant bit.

/// Decoder entry of a VLC codeword.
///
/// | bits | field |
/// |---|---|
/// | 0–2 | length |
/// | 3 | u_off |
/// | 4–7 | ρ |
/// | 8–11 | e_1 |
/// | 12–15 | e_k |
/// | 23–25 | this quad's part of the next quad's context |
pub(super) type Quad = u32;

/// Decoder tables, indexed by 128 × context + the next seven bits: first row of quads, other rows.
pub(super) static DECODE: [[Quad; 1024]; 2] = [decoding(&FIRST, true), decoding(&OTHER, false)];

/// Encoder tables, indexed by 256 × context + 16 ρ + EMB pattern: first row of quads, other rows.
///
/// Bits 0–6 are the codeword, 7–9 its length and 10–13 e_k.
pub(super) static ENCODE: [[u16; 2048]; 2] = [encoding(&FIRST), encoding(&OTHER)];

/// Decoder table of the residuals u of two quads, indexed by 64 × mode + the next six bits.
///
/// Modes 0 to 3 are u_off of the first quad + 2 u_off of the second one. In the first row of quads, modes 4 and 5
/// replace mode 3: the MEL event is 0 or 1.
///
/// | bits | field |
/// |---|---|
/// | 0–4 | bits of both codewords |
/// | 5–7 | bits of both prefixes |
/// | 8–10, 11–13 | bits of either suffix |
/// | 14–17, 18–21 | base of either residual |
pub(super) static RESIDUAL: [u32; 384] = residuals();

/// Four bits of a pattern, each in the lowest bit of a byte.
pub(super) const SPREAD: [u32; 16] = {
    let mut table = [0; 16];
    let mut pattern = 0;
    while pattern < 16 {
        let p = pattern as u32;
        table[pattern] = p & 1 | (p & 2) << 7 | (p & 4) << 14 | (p & 8) << 21;
        pattern += 1;
    }
    table
};

/// Four bits of a pattern, each in all bits of a word.
pub(super) static MASKS: [[u32; 4]; 16] = {
    let mut table = [[0; 4]; 16];
    let mut pattern = 0;
    while pattern < 64 {
        table[pattern / 4][pattern % 4] = 0u32.wrapping_sub((pattern as u32 / 4) >> (pattern % 4) & 1);
        pattern += 1;
    }
    table
};

/// Mark of significant samples, besides 2(μ − 1) + sign.
pub(super) const SIGNIFICANT: u32 = 1 << 31;

/// Row of Annex C.
#[derive(Clone, Copy)]
struct Row {
    context: u32,
    u_off: u32,
    rho: u32,
    e_k: u32,
    e_1: u32,
    codeword: u32,
    length: u32,
}

const fn row(packed: u32) -> Row {
    Row {
        context: packed >> 24 & 7,
        u_off: packed >> 27,
        rho: packed >> 20 & 15,
        e_k: packed >> 16 & 15,
        e_1: packed >> 12 & 15,
        codeword: packed >> 4 & 127,
        length: packed & 15,
    }
}

const fn decoding(rows: &[u32], first: bool) -> [Quad; 1024] {
    let mut table = [0; 1024];
    let mut i = 0;
    while i < rows.len() {
        let r = row(rows[i]);
        // Equations 1 and 2.
        let next = if first { r.rho >> 1 | r.rho & 1 } else { (r.rho >> 1 | r.rho >> 2) & 2 };
        let entry = r.length | r.u_off << 3 | r.rho << 4 | r.e_1 << 8 | r.e_k << 12 | next << 23;
        let mut index = r.context << 7 | r.codeword;
        while index < (r.context + 1) << 7 {
            table[index as usize] = entry;
            index += 1 << r.length;
        }
        i += 1;
    }
    table
}

const fn encoding(rows: &[u32]) -> [u16; 2048] {
    let mut table = [0u16; 2048];
    let mut i = 0;
    while i < rows.len() {
        let r = row(rows[i]);
        let mut emb = 0;
        while emb < 16 {
            let fits = if r.u_off == 0 { emb == 0 } else { emb != 0 && emb & !r.rho == 0 && emb & r.e_k == r.e_1 };
            let at = (r.context << 8 | r.rho << 4 | emb) as usize;
            // The row that predicts most exponents saves most MagSgn bits; no shorter codeword outweighs them.
            if fits && (table[at] == 0 || r.e_k.count_ones() > (table[at] >> 10).count_ones()) {
                table[at] = (r.codeword | r.length << 7 | r.e_k << 10) as u16;
            }
            emb += 1;
        }
        i += 1;
    }
    table
}

/// Prefix length, suffix length and base of the U-VLC codeword that begins with these bits.
const fn prefix(bits: u32) -> (u32, u32, u32) {
    match bits & 7 {
        1 | 3 | 5 | 7 => (1, 0, 1),
        2 | 6 => (2, 0, 2),
        4 => (3, 1, 3),
        _ => (3, 5, 5),
    }
}

const fn residuals() -> [u32; 384] {
    let mut table = [0; 384];
    let mut index = 64;
    while index < table.len() {
        let (mode, bits) = (index as u32 >> 6, index as u32 & 63);
        let none = (0, 0, 0);
        let (mut a, mut b) = match mode {
            1 => (prefix(bits), none),
            2 => (none, prefix(bits)),
            _ => {
                let a = prefix(bits);
                (a, prefix(bits >> a.0))
            }
        };
        if mode == 4 && a.0 == 3 {
            // At most one residual exceeds 2, so the second one is a single bit.
            b = (1, 0, 1 + (bits >> 3 & 1));
        } else if mode == 5 {
            a.2 += 2;
            b.2 += 2;
        }
        let prefixes = a.0 + b.0;
        table[index] = (prefixes + a.1 + b.1) | prefixes << 5 | a.1 << 8 | b.1 << 11 | a.2 << 14 | b.2 << 18;
        index += 1;
    }
    table
}

/// U-VLC codewords of residuals: bits 0–2 are the prefix, 3–4 its length, 5–9 the suffix, 10–12 its length.
pub(super) static CODEWORDS: [u32; 33] = {
    let mut table = [0; 33];
    let mut u = 1;
    while u < 33 {
        let bits = match u {
            1 => 1,
            2 => 2,
            3 | 4 => 4,
            _ => 0,
        };
        let (length, suffix, base) = prefix(bits);
        table[u as usize] = bits | length << 3 | (u - base) << 5 | suffix << 10;
        u += 1;
    }
    table
};

/// Annex C, first row of quads.
#[rustfmt::skip]
const FIRST: [u32; 444] = [
    0x0100064, 0x81113f7, 0x0200003, 0x82227f7, 0x0300115, 0x83225f7, 0x83311f7, 0x0400023, 0x8444136, 0x05000e5,
    0x8544236, 0x85510f7, 0x0600036, 0x86006f7, 0x07002f7, 0x87224f7, 0x87200d6, 0x0800043, 0x88883d6, 0x09001d6,
    0x89002d6, 0x0a00015, 0x8a88356, 0x8aa2777, 0x0b00377, 0x8b11577, 0x8b10096, 0x0c001e5, 0x8ccc177, 0x8cc4156,
    0x8cc8256, 0x0d00677, 0x8d11277, 0x8d54477, 0x8dd8077, 0x0e007b7, 0x8e224b7, 0x8ea8056, 0x8ee43b7, 0x0f005b7,
    0x8f991b7, 0x8fba6b7, 0x8ffc2b7, 0x8ff8396, 0x8fe6737, 0x8fe2196, 0x8ff50b7, 0x8ff4296, 0x8ff1337, 0x1000002,
    0x11000e4, 0x91111f7, 0x1200064, 0x92223b6, 0x13001b6, 0x93003d6, 0x14000a4, 0x94442b6, 0x15000b6, 0x9544336,
    0x95517f7, 0x1600136, 0x9600236, 0x17003f7, 0x97225f7, 0x9720036, 0x1800024, 0x98881d6, 0x19002d6, 0x99000d6,
    0x1a00356, 0x9a88156, 0x9aa26f7, 0x1b002f7, 0x9b114f7, 0x9b10116, 0x1c00015, 0x9c88256, 0x9cc4056, 0x1d000f7,
    0x9d11177, 0x9d54396, 0x9dd8777, 0x1e00377, 0x9e22577, 0x9ea8196, 0x9ee4677, 0x1f00077, 0x9fb8296, 0x9f88277,
    0x9fa2096, 0x9fe4316, 0x9ff1477, 0x2000002, 0x21000e4, 0xa1111b6, 0x2200064, 0xa2223f7, 0x23002b6, 0xa311336,
    0xa3327f7, 0x24000a4, 0xa4440b6, 0x2500015, 0xa5552f7, 0xa551136, 0xa554236, 0x2600036, 0xa6005f7, 0x27001f7,
    0xa7226f7, 0xa731116, 0xa774377, 0x2800024, 0xa8884f7, 0x29003d6, 0xa9001d6, 0x2a002d6, 0xaa000d6, 0x2b000f7,
    0xab22777, 0xab20356, 0x2c00156, 0xac44256, 0xacc8577, 0x2d00177, 0xad88056, 0xadc4396, 0xadd1677, 0x2e00277,
    0xae227b7, 0xae20196, 0x2f00477, 0xaff1296, 0xaf11096, 0xaf32077, 0xaf74316, 0xaff83b7, 0x3000003, 0x3100044,
    0xb1113d6, 0x32000c5, 0xb2224f7, 0x33001d6, 0xb311056, 0xb3327f7, 0x3400165, 0xb4442d6, 0x3500065, 0xb5551a5,
    0xb5510d6, 0xb554356, 0x36003f7, 0xb6445f7, 0xb6621f7, 0x37006f7, 0xb7662f7, 0xb764156, 0xb773777, 0xb771256,
    0xb7720f7, 0x38000a5, 0xb888077, 0x3900396, 0xb911377, 0xb998577, 0x3a00196, 0xba88296, 0xbaa2177, 0x3b00677,
    0xbbb1277, 0xbb11477, 0xbb32096, 0xbbb87b7, 0x3c00316, 0xbc44116, 0xbcc83b7, 0x3d005b7, 0xbd991b7, 0xbdd52b7,
    0xbdd1216, 0xbddc6b7, 0xbdd4016, 0xbdd84b7, 0x3e000b7, 0xbee4737, 0xbe44137, 0xbec83e6, 0xbee2337, 0x3f00537,
    0xbfaa0e6, 0xbfb9637, 0xbffc037, 0xbff8125, 0xbfe6237, 0xbff51e6, 0xbff4025, 0xbff3437, 0xbff11c5, 0xbff22e6,
    0x4000002, 0x41000e4, 0xc1113f7, 0x4200064, 0xc2221b6, 0x43002b6, 0xc3223d6, 0xc3317f7, 0x44000a4, 0xc4445f7,
    0x45000b6, 0xc500336, 0x4600136, 0xc600236, 0x47001f7, 0xc7446f7, 0xc740036, 0x4800024, 0xc8881d6, 0x4900116,
    0xc900777, 0x4a00015, 0xcaaa2f7, 0xcaa22d6, 0xcaa80d6, 0x4b004f7, 0xcbb20f7, 0xcb00356, 0x4c00156, 0xcc88256,
    0xccc4377, 0x4d00577, 0xcd11077, 0xcd10056, 0x4e00177, 0xce44396, 0xcec8196, 0xcee2677, 0x4f00277, 0xcf99477,
    0xcf91296, 0xcf767b7, 0xcf72096, 0xcfb8316, 0xcff43b7, 0x5000003, 0x51001a5, 0xd1117f7, 0x52000a5, 0xd2221d6,
    0x53002d6, 0xd3335f7, 0xd332396, 0xd3313f7, 0x5400125, 0xd4441f7, 0x55000d6, 0xd544356, 0xd5516f7, 0x5600156,
    0xd622256, 0xd6642f7, 0x57004f7, 0xd766577, 0xd764056, 0xd7730f7, 0xd772777, 0xd771377, 0x5800025, 0xd888196,
    0x5900266, 0xd988177, 0xd991677, 0x5a001c5, 0xdaaa296, 0xdaa2096, 0xdaa8316, 0x5b00277, 0xdb99077, 0xdb98116,
    0xdbb3477, 0xdbb2216, 0xdbb17b7, 0x5c00016, 0xdc883e6, 0xdcc43b7, 0x5d005b7, 0xdd996b7, 0xdd981e6, 0xddd51b7,
    0xddd42e6, 0xddd12b7, 0x5e004b7, 0xde660b7, 0xdeea337, 0xdee20e6, 0xdeec737, 0xdee8366, 0xdee4537, 0x5f00137,
    0xdf77437, 0xdf76166, 0xdf75637, 0xdffc237, 0xdff40c5, 0xdfd9037, 0xdffa3d7, 0xdff8145, 0xdff37d7, 0xdff2045,
    0xdff1066, 0x6000003, 0x6100044, 0xe111036, 0x62000c5, 0xe2220d6, 0x63001a5, 0xe3333d6, 0xe3311d6, 0xe3322d6,
    0x64000a5, 0xe4443f7, 0x6500356, 0xe511156, 0xe5547f7, 0x6600256, 0xe6225f7, 0xe6641f7, 0x67006f7, 0xe7664f7,
    0xe764056, 0xe7732f7, 0xe771366, 0xe772777, 0x6800125, 0xe8880f7, 0x6900396, 0xe911377, 0xe998577, 0x6a00196,
    0xea22296, 0xeaa8177, 0x6b00677, 0xeb99477, 0xeb91096, 0xebba277, 0xebb2316, 0xebb87b7, 0x6c00116, 0xeccc077,
    0xecc8216, 0xecc43b7, 0x6d005b7, 0xed55337, 0xed54016, 0xedc81b7, 0xedd16b7, 0x6e002b7, 0xeee24b7, 0xee220b7,
    0xeeec737, 0xeee83e6, 0xeee4537, 0x6f00137, 0xef661e6, 0xefea2e6, 0xeff30e6, 0xeff2025, 0xefb9637, 0xeffc166,
    0xeff8066, 0xeff5237, 0xeff11c5, 0xeff4266, 0x7000125, 0x7100056, 0xf1117f7, 0x7200396, 0xf2223f7, 0x73005f7,
    0xf3331f7, 0xf3326f7, 0xf3312f7, 0x74004f7, 0xf4440f7, 0x7500577, 0xf511196, 0xf554777, 0x7600377, 0xf600296,
    0x7700177, 0xf766677, 0xf773277, 0xf772477, 0xf7751b7, 0xf771096, 0xf774077, 0x78007b7, 0xf8883b7, 0x79005b7,
    0xf900316, 0x7a00537, 0xfa22116, 0xfaa86b7, 0x7b002b7, 0xfb994b7, 0xfbb30b7, 0xfbb1737, 0xfbba337, 0xfbb2216,
    0xfbb8137, 0x7c00637, 0xfc88237, 0xfcc4437, 0x7d00037, 0xfd997d7, 0xfdd55d7, 0xfdd1016, 0xfddc3d7, 0xfdd43e6,
    0xfdd81d7, 0x7e006d7, 0xfe662d7, 0xfeea0d7, 0xfee21e6, 0xfeec4d7, 0xfee80e6, 0xfee4757, 0x7f00157, 0xffff065,
    0xfffd357, 0xfff7557, 0xfff51a5, 0xfffb257, 0xfff30a5, 0xfff92e6, 0xfff1004, 0xfffe657, 0xfff6366, 0xfffa025,
    0xfff20c4, 0xfffc166, 0xfff8044, 0xfff4084,
];

/// Annex C, other rows of quads.
#[rustfmt::skip]
const OTHER: [u32; 358] = [
    0x0100003, 0x8111276, 0x0200063, 0x8222176, 0x03000d5, 0x83003b6, 0x0400023, 0x8444076, 0x0500155, 0x85002b6,
    0x0600015, 0x86007f7, 0x07001f7, 0x87001b6, 0x0800043, 0x8888055, 0x0900195, 0x8900136, 0x0a00095, 0x8a880b6,
    0x8aa23f7, 0x0b005f7, 0x8b00336, 0x0c00115, 0x8c88236, 0x8cc46f7, 0x0d000f7, 0x8d00036, 0x0e002f7, 0x8e444f7,
    0x8e403d6, 0x0f00777, 0x8f11377, 0x8f101d6, 0x1000001, 0x1100054, 0x91117f7, 0x1200094, 0x92221f7, 0x13001d5,
    0x93113f7, 0x93325f7, 0x14000d5, 0x9444377, 0x1500036, 0x95006f7, 0x16002f7, 0x96004f7, 0x17000f7, 0x9700777,
    0x1800014, 0x9888177, 0x19000b6, 0x9900577, 0x1a00336, 0x9a00677, 0x1b00277, 0x9b002b7, 0x1c00136, 0x9c00477,
    0x1d00077, 0x9d007b7, 0x1e003b7, 0x9e005b7, 0x1f001b7, 0x9f446b7, 0x9f40236, 0x2000001, 0x2100094, 0xa1117f7,
    0x2200014, 0xa222236, 0x23003d6, 0xa3223f7, 0xa3311f7, 0x2400155, 0xa4445f7, 0x2500036, 0xa5006f7, 0x26002f7,
    0xa6004f7, 0x27000f7, 0xa700177, 0x2800055, 0xa888777, 0x2900377, 0xa900577, 0x2a001d6, 0xaaaa7b7, 0xaaa22d6,
    0xaaa8677, 0x2b00277, 0xabb2477, 0xab00077, 0x2c000d6, 0xac003b7, 0x2d005b7, 0xad001b7, 0x2e006b7, 0xae442b7,
    0xae404b7, 0x2f000b7, 0xaf44737, 0xaf51337, 0xaf72537, 0xaff8137, 0x3000002, 0x31000a4, 0xb1110b6, 0x3200024,
    0xb222236, 0x33000e5, 0xb3337f7, 0xb332336, 0xb331136, 0x3400165, 0xb4443f7, 0x3500036, 0xb5113d6, 0xb5541f7,
    0x36001d6, 0xb6005f7, 0x37002d6, 0xb7442f7, 0xb7511e6, 0xb7726f7, 0x3800065, 0xb8884f7, 0x39000d6, 0xb900356,
    0x3a00156, 0xba22256, 0xbaa80f7, 0x3b00056, 0xbb88396, 0xbbb3177, 0xbbb2196, 0xbbb1777, 0x3c00296, 0xbc00096,
    0x3d00377, 0xbd44577, 0xbd40316, 0x3e00677, 0xbe44277, 0xbec8477, 0xbee26b7, 0x3f00116, 0xbf66077, 0xbf737b7,
    0xbffa3b7, 0xbff2216, 0xbff8016, 0xbfa85b7, 0xbff51b7, 0xbff13e6, 0xbff42b7, 0x4000001, 0x41000d5, 0xc1117f7,
    0x4200155, 0xc2223f7, 0x43005f7, 0xc3006f7, 0x4400094, 0xc444236, 0x4500336, 0xc5001f7, 0x4600136, 0xc6002f7,
    0x47004f7, 0xc700577, 0x4800014, 0xc8880f7, 0x4900777, 0xc900377, 0x4a001d6, 0xca00177, 0x4b00677, 0xcb006b7,
    0x4c00055, 0xcccc277, 0xccc8477, 0xccc4077, 0x4d007b7, 0xcd003b7, 0x4e005b7, 0xce221b7, 0xce20036, 0x4f002b7,
    0xcf114b7, 0xcf320b7, 0xcf303d6, 0x5000002, 0x51001e5, 0xd1113b6, 0x52000a5, 0xd2223f7, 0x53001b6, 0xd3000b6,
    0x5400024, 0xd4442b6, 0x55000e5, 0xd544336, 0xd5517f7, 0x5600136, 0xd6006f7, 0x5700236, 0xd7225f7, 0xd720156,
    0x5800165, 0xd888036, 0x59003d6, 0xd9001f7, 0x5a001d6, 0xda002d6, 0x5b000d6, 0xdb114f7, 0xdb10356, 0x5c00065,
    0xdc44256, 0xdcc82f7, 0x5d00056, 0xdd11777, 0xdd54396, 0xddd80f7, 0x5e00196, 0xde22577, 0xdea8016, 0xdee4377,
    0x5f001a5, 0xdf99177, 0xdfd5677, 0xdff3077, 0xdff1296, 0xdf76277, 0xdffc096, 0xdff4316, 0xdffa477, 0xdff8116,
    0xdff2216, 0x6000003, 0x6100024, 0xe111036, 0x62000c4, 0xe2223d6, 0x63001d6, 0xe3220d6, 0xe3317f7, 0x6400044,
    0xe4442d6, 0x65000a5, 0xe544356, 0xe5512f7, 0x6600156, 0xe6223f7, 0xe6645f7, 0x6700256, 0xe722296, 0xe7311f7,
    0xe7746f7, 0x6800165, 0xe888056, 0x6900396, 0xe900196, 0x6a00065, 0xeaaa0f7, 0xeaa2096, 0xeaa84f7, 0x6b000e6,
    0xebb2777, 0xeb22377, 0xeba8577, 0xebb1477, 0x6c001a5, 0xeccc177, 0xecc8677, 0xecc4277, 0x6d00316, 0xedd4077,
    0xed447b7, 0xedc83b7, 0xedd12b7, 0x6e00116, 0xeee45b7, 0xee441b7, 0xeeea6b7, 0xeee8216, 0xeee2337, 0x6f00016,
    0xef334b7, 0xef760b7, 0xeffa737, 0xeff23e6, 0xefb9537, 0xeffc637, 0xeff81e6, 0xeff5137, 0xeff42e6, 0xeff1237,
    0x7000044, 0x7100336, 0xf111136, 0x7200236, 0xf2227f7, 0x7300036, 0xf3113f7, 0xf3326f7, 0x74002d6, 0xf4445f7,
    0x7500165, 0xf5113d6, 0xf5541f7, 0x76001d6, 0xf600777, 0x7700065, 0xf7742f7, 0xf7444f7, 0xf7730f7, 0xf7710d6,
    0xf772577, 0x7800356, 0xf888377, 0x7900156, 0xf900277, 0x7a00256, 0xfa00296, 0x7b001a5, 0xfbb1177, 0xfb11677,
    0xfb32056, 0xfbb87b7, 0x7c00396, 0xfc00196, 0x7d000c5, 0xfdd1477, 0xfd11077, 0xfd54096, 0xfdd81b7, 0x7e00316,
    0xfee23b7, 0xfe225b7, 0xfea83e6, 0xfee40b7, 0x7f00003, 0xffff6b7, 0xfff72b7, 0xfffb4b7, 0xfff3116, 0xff76216,
    0xfffa016, 0xfff20a5, 0xffb91e6, 0xfffc0e6, 0xfff8125, 0xfff52e6, 0xfff1025, 0xfff41c5,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlc_codes_are_complete_and_prefix_free() {
        for rows in [&FIRST[..], &OTHER[..]] {
            for context in 0..8 {
                let rows: Vec<Row> = rows.iter().map(|&r| row(r)).filter(|r| r.context == context).collect();
                assert_eq!(rows.iter().map(|r| 128 >> r.length).sum::<u32>(), 128, "Kraft's sum, context {context}");
                for (i, a) in rows.iter().enumerate() {
                    assert!(a.codeword >> a.length == 0 && (1..=7).contains(&a.length));
                    for b in &rows[..i] {
                        let mask = (1 << a.length.min(b.length)) - 1;
                        assert_ne!(a.codeword & mask, b.codeword & mask, "context {context}");
                    }
                }
            }
        }
    }

    #[test]
    fn patterns_nest() {
        for r in FIRST.iter().chain(&OTHER).map(|&r| row(r)) {
            assert_eq!((r.e_1 & !r.e_k, r.e_k & !r.rho), (0, 0));
            assert!(r.u_off == 1 || r.e_k == 0);
            assert!(r.u_off == 0 || r.rho != 0);
        }
    }

    #[test]
    fn every_pattern_has_a_codeword() {
        for (table, decode) in ENCODE.iter().zip(&DECODE) {
            for context in 0..8 {
                for rho in (if context == 0 { 1 } else { 0 })..16 {
                    for emb in (0..16).filter(|emb| emb & !rho == 0) {
                        let code = table[context << 8 | rho << 4 | emb] as usize;
                        let quad = decode[context << 7 | code & 127] as usize;
                        assert_eq!((quad & 7, quad >> 4 & 15, quad >> 12 & 15), (code >> 7 & 7, rho, code >> 10));
                        assert_eq!((quad >> 3 & 1 != 0, quad >> 8 & 15), (emb != 0, emb & code >> 10));
                    }
                }
            }
        }
    }

    #[test]
    fn residuals_decode() {
        for mode in 1..4 {
            for (u0, u1) in (1..=32).flat_map(|u0| (1..=32).map(move |u1| (u0, u1))) {
                let split = |c: u32| (c & 7, c >> 3 & 3, c >> 5 & 31, c >> 10);
                let [a, b] = [u0 * (mode & 1), u1 * (mode >> 1)].map(|u| split(CODEWORDS[u as usize]));
                let bits = a.0 | b.0 << a.1 | a.2 << (a.1 + b.1) | b.2 << (a.1 + b.1 + a.3);
                let entry = RESIDUAL[(mode << 6 | bits & 63) as usize];
                assert_eq!(entry & 31, a.1 + b.1 + a.3 + b.3);
                assert_eq!((entry >> 14 & 15) + a.2, u0 * (mode & 1));
                assert_eq!((entry >> 18 & 15) + b.2, u1 * (mode >> 1));
            }
        }
    }
}
