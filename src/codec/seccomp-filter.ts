/** Builds the seccomp filter of ffmpeg: system calls that reach the network or other processes fail. */

/** Numbers of x86_64 and of aarch64. */
const denied: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  socket: [41, 198],
  socketpair: [53, 199],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  connect: [42, 203],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424],
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  // Whoever leaves the process group is not killed with it.
  setsid: [112, 157],
  setpgid: [109, 154],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  kcmp: [312, 272],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  io_uring_setup: [425, 425],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
};

interface Architecture {
  readonly audit: number;
  readonly column: 0 | 1;
  /** `prlimit64`: allowed for the process itself, as programs read their limits with it. */
  readonly limits: number;
}

const architectures: Readonly<Record<string, Architecture>> = {
  x64: { audit: 0xc000003e, column: 0, limits: 302 },
  arm64: { audit: 0xc00000b7, column: 1, limits: 261 },
};

// Instructions of the packet filter.
const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const answer = 0x06;

/** Where `struct seccomp_data` has them. */
const callAt = 0;
const architectureAt = 4;
const firstArgumentAt = 16;

const allow = 0x7fff0000;
/** Fails with EPERM. */
const refuse = 0x00050001;
/** Calls of x86_64 by other numbers begin here. */
const otherNumbers = 0x40000000;

/** Undefined for a processor whose numbers are not known here. */
export const seccompFilter = (arch: string = process.arch): Buffer | undefined => {
  const machine = architectures[arch];
  if (machine === undefined) return undefined;
  const numbers = Object.values(denied).map((pair) => pair[machine.column]);
  const length = numbers.length + 9;
  // The two answers come last: refuse, then allow.
  const toRefuse = (at: number): number => length - 3 - at;
  return Buffer.concat([
    instruction(load, 0, 0, architectureAt),
    instruction(jumpIfEqual, 0, toRefuse(1), machine.audit),
    instruction(load, 0, 0, callAt),
    instruction(jumpIfAtLeast, toRefuse(3), 0, otherNumbers),
    ...numbers.map((number, at) => instruction(jumpIfEqual, toRefuse(4 + at), 0, number)),
    instruction(jumpIfEqual, 0, 3, machine.limits),
    instruction(load, 0, 0, firstArgumentAt),
    instruction(jumpIfEqual, 1, 0, 0),
    instruction(answer, 0, 0, refuse),
    instruction(answer, 0, 0, allow),
  ]);
};

/** Jumps count the instructions they skip. */
const instruction = (code: number, ifTrue: number, ifFalse: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
};
