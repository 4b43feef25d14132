// Plays random games in 512 environments, as play.c does: the same structures in Rust.
//
//   rustc -O play.rs -L $(python -m rungs paths lib) -l rungs
use std::ffi::{c_char, c_void, CStr};
use std::{ptr, slice};

const N: usize = 512;
const STEPS: usize = 400;

#[repr(C)]
struct Config {
    size: usize,
    num_envs: i64,
    opponent: i32,
    observation: i32,
    mask: i32,
    autoreset: i32,
    max_plies: i32,
    opening_min: i32,
    opening_max: i32,
    num_threads: i32,
    start_fens: *const *const c_char,
    num_start_fens: i64,
}

#[repr(C)]
struct Outputs {
    size: usize,
    observation: *const c_void,
    observation_bytes: usize,
    mask: *const c_void,
    mask_bytes: usize,
    action_count: *const i16,
    player: *const i8,
    reward: *const f32,
    terminated: *const u8,
    truncated: *const u8,
    ended: *const u8,
    reason: *const i8,
    final_observation: *const c_void,
}

extern "C" {
    fn rungs_error_message() -> *const c_char;
    fn rungs_chess_config_init(config: *mut Config, size: usize);
    fn rungs_chess_create(config: *const Config, envs: *mut *mut c_void) -> i32;
    fn rungs_chess_destroy(envs: *mut c_void);
    fn rungs_chess_get_outputs(envs: *const c_void, outputs: *mut Outputs) -> i32;
    fn rungs_chess_reset(envs: *mut c_void, seed: u64) -> i32;
    fn rungs_chess_step(envs: *mut c_void, actions: *const i64, ended: *mut i64) -> i32;
    fn rungs_chess_get_fen(envs: *const c_void, env: i64, fen: *mut c_char, size: usize) -> i32;
}

fn check(status: i32) {
    if status != 0 {
        panic!("{}", unsafe { CStr::from_ptr(rungs_error_message()) }.to_string_lossy());
    }
}

fn main() {
    unsafe {
        let mut config: Config = std::mem::zeroed();
        rungs_chess_config_init(&mut config, size_of::<Config>());
        (config.num_envs, config.mask) = (N as i64, 2); // RUNGS_MASK_LIST
        let mut envs = ptr::null_mut();
        check(rungs_chess_create(&config, &mut envs));
        let mut out: Outputs = std::mem::zeroed();
        out.size = size_of::<Outputs>();
        check(rungs_chess_get_outputs(envs, &mut out));

        check(rungs_chess_reset(envs, 7));
        let (mut random, mut episodes, mut mates) = (1u32, 0, 0);
        for _ in 0..STEPS {
            let lists = slice::from_raw_parts(out.mask as *const [i16; 218], N);
            let counts = slice::from_raw_parts(out.action_count, N);
            let (mut actions, mut ended) = ([0i64; N], 0);
            for i in 0..N {
                random = random.wrapping_mul(1664525).wrapping_add(1013904223);
                actions[i] = lists[i][((random >> 16) % counts[i] as u32) as usize].into();
            }
            check(rungs_chess_step(envs, actions.as_ptr(), &mut ended));
            episodes += ended;
            let reasons = slice::from_raw_parts(out.reason, N);
            mates += reasons.iter().filter(|&&reason| reason == 1).count(); // by checkmate
        }

        let mut fen = [0 as c_char; 128];
        check(rungs_chess_get_fen(envs, 0, fen.as_mut_ptr(), fen.len()));
        let fen = CStr::from_ptr(fen.as_ptr()).to_str().unwrap();
        println!("{episodes} episodes ended, {mates} by mate; environment 0: {fen}");
        rungs_chess_destroy(envs);
    }
}
