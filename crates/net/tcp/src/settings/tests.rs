//! Settings parsed from text, and compared with kernel defaults.

use super::*;

const OLD: Version = Version::new(5, 15);
const NEW: Version = Version::new(6, 18);

/// Memory that reduces no default: 32 MiB are a 128th of 4 GiB.
const PLENTY: Option<u64> = Some(64 << 30);

#[test]
fn files_become_settings() {
    let settings = Settings::of(|name| {
        let text = match name {
            "ipv4/tcp_rmem" => "4096\t131072\t16777216\n",
            "ipv4/tcp_adv_win_scale" => "-2\n",
            "ipv4/tcp_notsent_lowat" => "4294967295\n",
            "ipv4/ip_local_port_range" => "32768\t60999\n",
            "ipv4/tcp_available_congestion_control" => "reno cubic bbr\n",
            "core/default_qdisc" => "fq\n",
            "ipv4/tcp_sack" => "one\n",
            "ipv4/tcp_wmem" => "4096 16384\n",
            _ => return None,
        };
        Some(text.to_owned())
    });
    let expected = Settings {
        tcp_rmem: Some([4096, 131_072, 16_777_216]),
        tcp_adv_win_scale: Some(-2),
        tcp_notsent_lowat: Some(4_294_967_295),
        ip_local_port_range: Some([32_768, 60_999]),
        tcp_available_congestion_control: Some(["reno", "cubic", "bbr"].map(str::to_owned).to_vec()),
        core_default_qdisc: Some("fq".to_owned()),
        // Invalid values, such as two numbers instead of three, are unknown and never guessed.
        ..Settings::default()
    };
    assert_eq!(settings, expected);
}

#[test]
fn this_namespace_has_buffers() {
    let settings = Settings::read().unwrap();
    assert!(settings.tcp_rmem.is_some() && settings.tcp_wmem.is_some() && settings.memory_bytes.is_some());
}

#[test]
fn defaults_grew_with_the_releases() {
    let most = |kernel| {
        let defaults = Settings::defaults(kernel, PLENTY);
        (defaults.tcp_rmem.unwrap(), defaults.core_rmem_max.unwrap())
    };
    assert_eq!(most(Version::new(4, 19)), ([4096, 87_380, 6 << 20], 212_992));
    assert_eq!(most(OLD), ([4096, 131_072, 6 << 20], 212_992));
    assert_eq!(most(Version::new(6, 16)), ([4096, 131_072, 32 << 20], 212_992));
    assert_eq!(most(NEW), ([4096, 131_072, 32 << 20], 4 << 20));
    assert_eq!(Settings::defaults(Version::new(3, 2), PLENTY), Settings::default());
}

#[test]
fn little_memory_makes_smaller_buffers() {
    // A 128th of 512 MiB is 4 MiB; a sixteenth less is 3.75 MiB.
    let defaults = Settings::defaults(NEW, Some(512 << 20));
    assert_eq!(defaults.tcp_rmem.unwrap()[2], 3_932_160);
    assert_eq!(defaults.tcp_wmem.unwrap()[2], 3_932_160);
    let defaults = Settings::defaults(NEW, Some(8 << 20));
    assert_eq!((defaults.tcp_rmem.unwrap()[2], defaults.tcp_wmem.unwrap()[2]), (131_072, 65_536));
}

#[test]
fn what_guides_call_tuned_can_be_less() {
    let tuned = Settings {
        tcp_rmem: Some([4096, 87_380, 16 << 20]),
        memory_bytes: PLENTY,
        ..Settings::defaults(NEW, PLENTY)
    };
    let below = |setting, value, default| BelowDefault { setting, value, default };
    assert_eq!(
        tuned.below_default(NEW),
        [below("net.ipv4.tcp_rmem[1]", 87_380, 131_072), below("net.ipv4.tcp_rmem[2]", 16 << 20, 32 << 20)]
    );
    // On 5.15 the same 16 MiB are more than the default of 6.
    assert_eq!(tuned.below_default(OLD), [below("net.ipv4.tcp_rmem[1]", 87_380, 131_072)]);
}

#[test]
fn what_is_switched_off_or_narrow_is_below() {
    let settings = Settings {
        tcp_window_scaling: Some(0),
        ip_local_port_range: Some([40_000, 40_999]),
        core_rmem_max: None,
        ..Settings::defaults(NEW, PLENTY)
    };
    let below: Vec<_> =
        settings.below_default(NEW).iter().map(|one| (one.setting, one.value, one.default)).collect();
    // 60999 - 32768 + 1 ports by default. A setting that is not shown is not judged.
    assert_eq!(
        below,
        [("net.ipv4.tcp_window_scaling", 0, 1), ("ports of net.ipv4.ip_local_port_range", 1000, 28_232)]
    );
}

#[test]
fn a_kernel_is_not_below_itself() {
    for kernel in [Version::new(3, 2), OLD, Version::new(6, 6), NEW] {
        for memory in [None, Some(256 << 20), PLENTY] {
            assert_eq!(Settings::defaults(kernel, memory).below_default(kernel), []);
        }
    }
}

#[test]
fn memory_of_the_machine() {
    assert_eq!(total_memory("MemTotal:       24683840 kB\nMemFree: 1 kB\n"), Some(24_683_840 * 1024));
    assert_eq!(total_memory("MemFree: 1 kB\n"), None);
    assert_eq!(total_memory("MemTotal: much\n"), None);
    assert_eq!(total_memory("MemTotal: 18446744073709551615 kB\n"), None);
}
