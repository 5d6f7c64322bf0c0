//! The style sheet: light and dark colours that are distinguishable with red or green colour
//! blindness.

/// Additional sites reuse the colours.
pub(super) const SITES: usize = 12;

/// The first site colours are from Okabe and Ito (2008). Round-trip times range from green to
/// violet, each darker than the previous one. Only faults are red and dashed.
pub(super) const SHEET: &str = "<style>
.world{--ground:#fff;--sea:#eaf0f5;--land:#d3d6cd;--ink:#1c2024;--muted:#5d656f;--halo:#fffc;--bad:#c8201a;
--rtt-0:#2fa36b;--rtt-1:#1e8a8f;--rtt-2:#2c6aa8;--rtt-3:#4b3f9c;--rtt-4:#6a1b7b;
--site-0:#0072b2;--site-1:#e69f00;--site-2:#009e73;--site-3:#cc79a7;--site-4:#56b4e9;--site-5:#d55e00;--site-6:#8a8100;--site-7:#555b63;--site-8:#882255;--site-9:#6a4fd8;--site-10:#7a5230;--site-11:#3f8f1f;
font:11px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;max-width:100%;height:auto}
@media(prefers-color-scheme:dark){.world{--ground:#131619;--sea:#1a2129;--land:#39404a;--ink:#e8eaed;--muted:#a2a9b2;--halo:#131619cc;--bad:#ff7a66;
--rtt-0:#7be0a4;--rtt-1:#4fc9c9;--rtt-2:#6cb0ee;--rtt-3:#a39af5;--rtt-4:#d58fe6;
--site-0:#4aa8e8;--site-1:#e69f00;--site-2:#1cb98c;--site-3:#d78fb5;--site-4:#8fd0f5;--site-5:#ee7f33;--site-6:#f0e442;--site-7:#aab1ba;--site-8:#d0719b;--site-9:#a58cff;--site-10:#c19a6b;--site-11:#8fd16a}}
.world .ground{fill:var(--ground)}.world .sea{fill:var(--sea)}.world .land{fill:var(--land)}
.world text{fill:var(--ink)}.world .name{font-size:14px;font-weight:600}.world .muted{fill:var(--muted)}
.world .label{paint-order:stroke;stroke:var(--halo);stroke-width:2.5px;stroke-linejoin:round}
.world .middle{text-anchor:middle}.world .end{text-anchor:end}
.world path.generated,.world path.given,.world path.reach,.world path.fault{fill:none;stroke:var(--stroke)}
.world path.generated{stroke-width:.7px;opacity:.55}.world path.given{stroke-width:1.8px;opacity:.95}
.world path.reach{stroke-width:.9px;opacity:.6}.world path.fault{stroke:var(--bad);stroke-dasharray:5 4}
.world path.plain{stroke:var(--ink)}
.world circle.city{fill:var(--stroke,var(--ink));stroke:var(--ground);stroke-width:.7px}
.world circle.lost{fill:var(--ground);stroke:var(--bad);stroke-width:1.2px}
.world circle.dark{fill:var(--ground);stroke:var(--bad);stroke-width:1.5px;stroke-dasharray:2 1.5}
.world circle.ring{fill:none;stroke:var(--stroke,var(--ink));stroke-width:1.5px}
.world .rtt-0{--stroke:var(--rtt-0)}.world .rtt-1{--stroke:var(--rtt-1)}.world .rtt-2{--stroke:var(--rtt-2)}.world .rtt-3{--stroke:var(--rtt-3)}.world .rtt-4{--stroke:var(--rtt-4)}
.world .site-0{--stroke:var(--site-0)}.world .site-1{--stroke:var(--site-1)}.world .site-2{--stroke:var(--site-2)}.world .site-3{--stroke:var(--site-3)}
.world .site-4{--stroke:var(--site-4)}.world .site-5{--stroke:var(--site-5)}.world .site-6{--stroke:var(--site-6)}.world .site-7{--stroke:var(--site-7)}
.world .site-8{--stroke:var(--site-8)}.world .site-9{--stroke:var(--site-9)}.world .site-10{--stroke:var(--site-10)}.world .site-11{--stroke:var(--site-11)}
</style>
";
