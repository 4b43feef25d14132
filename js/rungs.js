/**
 * Rungs in JavaScript: batches of chess and CartPole environments and tree search, of the C API
 * (`rungs.h`) in WebAssembly. Games and trees are the same as in Python and C, bit for bit. It runs
 * in browsers, Node and workers, needs nothing else, and has one thread.
 *
 *   const rungs = await load(await (await fetch("rungs.wasm")).arrayBuffer());
 *   const envs = rungs.chess({ numEnvs: 8, mask: "list" });
 *   envs.reset(7);
 *   envs.step(envs.sampleActions());
 *
 * Outputs are views of the module's memory: the next call may overwrite or detach them. Read each
 * from its environment when it is needed, and copy what is kept.
 * @module
 */

/** The names of statuses: what follows `RUNGS_ERROR_`. */
const ERRORS = new Map([
  [-1, "ARGUMENT"],
  [-2, "ILLEGAL_ACTION"],
  [-3, "FEN"],
  [-4, "STATE"],
  [-5, "ORDER"],
  [-6, "MEMORY"],
  [-7, "THREADS"],
]);

const FEN_BYTES = 128;
/** How many bytes WebAssembly's memory can have. */
const MAX_BYTES = 2 ** 32;
const MASK_ARRAYS = [Uint8Array, BigUint64Array, Int16Array];

/** The most actions that are legal in a position: elements of a row of a list. */
export const MAX_LEGAL = 218;

/** How many actions of chess there are: AlphaZero's. */
export const NUM_ACTIONS = 4672;

/** Why an episode of chess ended, by the number in `reason`. */
export const REASONS = Object.freeze([
  "none",
  "checkmate",
  "stalemate",
  "insufficient material",
  "fifty moves",
  "threefold repetition",
  "max plies",
]);

/** An error of the library. `code` is the part of RUNGS_ERROR_... that says what was wrong. */
export class RungsError extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.name = "RungsError";
    this.code = code;
  }
}

/**
 * Compiles and starts the module.
 * @param {BufferSource | WebAssembly.Module} source the bytes of `rungs.wasm`, or the module that
 *   was compiled from them, which can be sent to a worker
 * @returns {Promise<Rungs>}
 */
export async function load(source) {
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  let api;
  const refuse = () => 8; // no such file
  const imports = {
    fd_close: refuse,
    fd_seek: refuse,
    fd_write: refuse,
    clock_time_get(_clock, _precision, out) {
      const now = BigInt(Math.round(performance.now() * 1e6));
      new DataView(api.memory.buffer).setBigUint64(out, now, true);
      return 0;
    },
  };
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports });
  api = instance.exports;
  api._initialize();
  return new Rungs(api);
}

/**
 * Settings by the names of the header's structure, in camel case. Values of enumerations are named,
 * in upper or lower case, by the ends of their constants: `mask: "list"` is RUNGS_MASK_LIST.
 * @typedef {Record<string, number | bigint | string | string[]>} Settings
 */

/**
 * A structure's fields. `values` are the names of an enumeration's values, by number; `element` is
 * the type behind a pointer.
 * @typedef {{at: number, type: string, element?: string, values: string[]}} Field
 * @typedef {{size: number, fields: Map<string, Field>}} Layout
 */

/** The smallest and the largest integer of each type. */
const INTEGERS = {
  i2: [-(2n ** 15n), 2n ** 15n - 1n],
  i4: [-(2n ** 31n), 2n ** 31n - 1n],
  i8: [-(2n ** 63n), 2n ** 63n - 1n],
  u1: [0n, 2n ** 8n - 1n],
  u4: [0n, 2n ** 32n - 1n],
  u8: [0n, 2n ** 64n - 1n],
};

/** Arrays by the type of their elements. */
const ARRAYS = {
  i1: Int8Array,
  u1: Uint8Array,
  i2: Int16Array,
  u2: Uint16Array,
  i4: Int32Array,
  u4: Uint32Array,
  i8: BigInt64Array,
  u8: BigUint64Array,
  f4: Float32Array,
  f8: Float64Array,
};
const ELEMENTS = new Map(Object.entries(ARRAYS).map(([type, ArrayType]) => [ArrayType, type]));

/** Returns a value as text for a message; its type where it can't be one. */
function shown(value) {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}

/**
 * Returns a number for WebAssembly, which itself would cut one that does not fit: a BigInt of 8
 * bytes, or else a number.
 */
function checked(name, type, value) {
  if (type in INTEGERS) {
    const [low, high] = INTEGERS[type];
    const exact = typeof value === "bigint" || Number.isSafeInteger(value);
    if (exact && value >= low && value <= high)
      return type.endsWith("8") ? BigInt(value) : Number(value);
    const text = `${name}: ${shown(value)} is not an exact integer from ${low} to ${high}`;
    throw new RungsError("ARGUMENT", text);
  }
  if (Number.isFinite(value)) return value;
  throw new RungsError("ARGUMENT", `${name}: ${shown(value)} is not a number`);
}

/** Returns numbers as a new array of a type, of `length` elements if that is given. */
function checkedArray(name, ArrayType, values, length) {
  const convert = (value, i) => checked(`${name}[${i}]`, ELEMENTS.get(ArrayType), value);
  let count;
  try {
    count = Object(values) === values ? values.length : undefined;
    if (!(Number.isSafeInteger(count) && count >= 0 && count < MAX_BYTES)) throw TypeError();
    if (count === (length ?? count)) {
      const array = values instanceof ArrayType ? values.slice() : ArrayType.from(values, convert);
      length ??= count;
      if (array.length === length) return array;
      count = array.length; // its iterator's
    }
  } catch (error) {
    if (error instanceof RungsError) throw error;
    // It is none, or its buffer was transferred; or what it is made of throws.
    throw new RungsError("ARGUMENT", `${name}: ${shown(values)} is not an array`);
  }
  throw new RungsError("ARGUMENT", `${name}: ${count} elements, not ${length}`);
}

const GETTERS = {
  i4: "getInt32",
  u4: "getUint32",
  i8: "getBigInt64",
  u8: "getBigUint64",
  f8: "getFloat64",
};

/** The module: what makes environments and searches. `load` returns it. */
export class Rungs {
  #api;
  /** @type {Map<string, Layout>} */
  #layouts = new Map();

  /** @param {any} api the module's exports, initialised */
  constructor(api) {
    this.#api = api;
    /** @type {Layout | undefined} */
    let layout;
    for (const line of this.text(api.rungs_abi()).split("\n")) {
      const [what, name, number, type, ...values] = line.split(" ");
      if (what === "structure") {
        layout = { size: Number(number), fields: new Map() };
        this.#layouts.set(name, layout);
      } else if (what === "field") {
        const element = type[0] === "*" ? type.slice(1) : undefined;
        const names = values.map((value) => value.split("=")[0]);
        const field = { at: Number(number), type: element ? "u4" : type, element, values: names };
        layout?.fields.set(name, field);
      }
    }
  }

  /**
   * Makes a batch of chess environments.
   * @param {Settings} settings those of `rungs_chess_config`
   * @returns {Chess}
   * @throws {RungsError} a setting is wrong; the message names it
   */
  chess(settings = {}) {
    return new Chess(this, settings);
  }

  /**
   * Makes a batch of CartPole environments.
   * @param {Settings} settings those of `rungs_cartpole_config`
   * @returns {CartPole}
   * @throws {RungsError} as `chess`
   */
  cartpole(settings = {}) {
    return new CartPole(this, settings);
  }

  /**
   * Makes a search.
   * @param {Settings} settings those of `rungs_search_config`
   * @returns {Search}
   * @throws {RungsError} as `chess`
   */
  search(settings = {}) {
    return new Search(this, settings);
  }

  /**
   * Counts the leaves of the tree of legal moves.
   * @param {string} fen
   * @param {number} depth in plies
   * @returns {bigint}
   * @throws {RungsError}
   */
  perft(fen, depth) {
    return this.withMemory((memory) => {
      const leaves = memory.room(8);
      this.call("rungs_perft", memory.text(fen), checked("depth", "i4", depth), 1, leaves);
      return this.view(BigInt64Array, leaves, 1)[0];
    });
  }

  // What follows is for the classes below.

  /** Calls a function that returns a status. */
  call(name, ...args) {
    const status = this.#api[name](...args);
    if (status === 0) return;
    const message = this.text(this.#api.rungs_error_message());
    throw new RungsError(ERRORS.get(status) ?? "UNKNOWN", message);
  }

  /** Calls a function that returns something else, or nothing. */
  raw(name, ...args) {
    return this.#api[name](...args);
  }

  view(ArrayType, at, length) {
    return new ArrayType(this.#api.memory.buffer, at, length);
  }

  text(at) {
    const bytes = new Uint8Array(this.#api.memory.buffer, at);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  /** Calls `use` with functions that allocate memory of the module, which is freed afterwards. */
  withMemory(use) {
    const blocks = [];
    const room = (bytes) => {
      const at = this.#api.malloc(Math.max(bytes, 1)) >>> 0;
      if (!at) throw new RungsError("MEMORY", "there is too little memory");
      blocks.push(at);
      return at;
    };
    const put = (array) => {
      let bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      // A view of outputs, which more room may detach.
      if (bytes.buffer === this.#api.memory.buffer) bytes = bytes.slice();
      const at = room(bytes.length);
      this.view(Uint8Array, at, bytes.length).set(bytes);
      return at;
    };
    const text = (string) => {
      if (typeof string === "string" && !string.includes("\0"))
        return put(new TextEncoder().encode(`${string}\0`));
      throw new RungsError("FEN", `${shown(string)} is not a FEN`);
    };
    try {
      return use({ room, put, text });
    } finally {
      for (const at of blocks) this.#api.free(at);
    }
  }

  /** Returns a structure's size. */
  size(structure) {
    return this.#layout(structure).size;
  }

  /** Returns the names of a structure's fields that callers set, by their names in camel case. */
  settings(structure) {
    const { fields } = this.#layout(structure);
    const pointers = [...fields.keys()].filter((name) => fields.get(name).element);
    const derived = ["size", ...pointers.map((name) => `num_${name}`)];
    const names = [...fields.keys()].filter((name) => !derived.includes(name));
    return new Map(names.map((name) => [name.replace(/_./g, ([, c]) => c.toUpperCase()), name]));
  }

  /** Returns the type of arrays of a format of observations. */
  observationArray(format) {
    return ARRAYS[[...this.#layout("rungs_observations").fields.values()][format].element];
  }

  /** Returns a structure's fields by name: numbers, or BigInt of 8 bytes. */
  read(structure, at) {
    const { fields } = this.#layout(structure);
    const data = new DataView(this.#api.memory.buffer, at);
    return Object.fromEntries(
      [...fields].map(([name, field]) => [name, data[GETTERS[field.type]](field.at, true)]),
    );
  }

  /** Sets a structure's field to a number, or to a named value of its enumeration. */
  set(structure, at, name, value) {
    const { at: offset, type, values } = this.#layout(structure).fields.get(name);
    const data = new DataView(this.#api.memory.buffer, at);
    const number = values.length ? numberOf(name, values, value) : value;
    data[GETTERS[type].replace("get", "set")](offset, checked(name, type, number), true);
  }

  #layout(structure) {
    const layout = this.#layouts.get(structure);
    if (!layout) throw new RungsError("ARGUMENT", `this module describes no ${structure}`);
    return layout;
  }
}

/** Returns the number of an enumeration's value by its name. */
function numberOf(name, values, value) {
  const number = typeof value === "string" ? values.indexOf(value.toUpperCase()) : -1;
  if (number >= 0) return number;
  const names = values.join(", ").toLowerCase();
  throw new RungsError("ARGUMENT", `${name}: ${shown(value)} is none of ${names}`);
}

/** A handle of the library, and where its outputs are. */
class Handle {
  constructor(rungs, kind, settings) {
    const config = `rungs_${kind}_config`;
    const outputs = `rungs_${kind}_outputs`;
    this.rungs = rungs;
    this.kind = kind;
    if (Object(settings) !== settings)
      throw new RungsError("ARGUMENT", `settings: ${shown(settings)} is not an object`);
    rungs.withMemory((memory) => {
      const at = memory.room(rungs.size(config));
      const made = memory.room(4);
      rungs.raw(`${config}_init`, at, rungs.size(config));
      const names = rungs.settings(config);
      for (const [key, value] of Object.entries(settings)) {
        const name = names.get(key);
        if (!name) {
          const known = [...names.keys()].join(", ");
          throw new RungsError("ARGUMENT", `there is no setting ${key}; there are: ${known}`);
        }
        if (name !== "start_fens") {
          rungs.set(config, at, name, value);
          continue;
        }
        if (!Array.isArray(value))
          throw new RungsError("ARGUMENT", `${key}: ${shown(value)} is not an array`);
        const fens = Uint32Array.from(value, (fen) => memory.text(fen));
        rungs.set(config, at, name, memory.put(fens));
        rungs.set(config, at, "num_start_fens", fens.length);
      }
      rungs.call(`rungs_${kind}_create`, at, made);
      this.handle = rungs.view(Uint32Array, made, 1)[0];
      /** Its configuration, by the names of the header. */
      this.config = rungs.read(config, at);
      const out = memory.room(rungs.size(outputs));
      rungs.set(outputs, out, "size", rungs.size(outputs));
      this.call("get_outputs", out);
      /** The addresses of its arrays, by the names of the header. */
      this.outputs = rungs.read(outputs, out);
    });
  }

  /** Frees it; nothing of it may be used any more. */
  close() {
    this.rungs.raw(`rungs_${this.kind}_destroy`, this.handle);
    this.handle = 0;
  }

  call(name, ...args) {
    this.rungs.call(`rungs_${this.kind}_${name}`, this.handle, ...args);
  }

  array(ArrayType, name, length) {
    return this.rungs.view(ArrayType, this.outputs[name], length);
  }

  /** A row of `bytes` for each of `rows`. */
  rows(ArrayType, name, rows, bytes) {
    return this.array(ArrayType, name, (rows * bytes) / ArrayType.BYTES_PER_ELEMENT);
  }

  /** Passes an array that it reads, or null, to a call. */
  withArray(name, array, ...args) {
    if (!array) return this.call(name, 0, ...args);
    return this.rungs.withMemory((memory) => this.call(name, memory.put(array), ...args));
  }

  /** Returns another object's handle, if that is of a kind, and of this module. */
  handleOf(name, kind, other) {
    if (other?.kind === kind && other.rungs === this.rungs) return other.handle;
    throw new RungsError("ARGUMENT", `${name}: not a ${kind} of this module`);
  }

  fenOf(i) {
    return this.rungs.withMemory((memory) => {
      const out = memory.room(FEN_BYTES);
      this.call("get_fen", checked("number", "i8", i), out, FEN_BYTES);
      return this.rungs.text(out);
    });
  }
}

/** What batches of environments have in common; N is their number. */
class Envs extends Handle {
  /** @returns {number} N */
  get numEnvs() {
    return Number(this.config.num_envs);
  }

  /** @returns {Float32Array} (N,) of the last step */
  get reward() {
    return this.array(Float32Array, "reward", this.numEnvs);
  }

  /** @returns {Uint8Array} (N,) whether the last step ended the episode by the rules */
  get terminated() {
    return this.array(Uint8Array, "terminated", this.numEnvs);
  }

  /** @returns {Uint8Array} (N,) whether the last step cut the episode short */
  get truncated() {
    return this.array(Uint8Array, "truncated", this.numEnvs);
  }

  /** @returns {Uint8Array} (N,) whether the last step did either */
  get ended() {
    return this.array(Uint8Array, "ended", this.numEnvs);
  }

  /**
   * Begins episode 0 in every environment.
   * @param {number | bigint | BigUint64Array | ArrayLike<number | bigint>} seed of all, 0 to
   *   2^64 - 1, or (N,) of each
   */
  reset(seed = 0) {
    if (Object(seed) !== seed) return this.call("reset", checked("seed", "u8", seed));
    this.withArray("reset_seeds", checkedArray("seed", BigUint64Array, seed, this.numEnvs));
  }

  /**
   * Begins the next episode in some environments, or in all.
   * @param {Uint8Array | ArrayLike<number> | null} which (N,) 0 or 1
   */
  resetSome(which = null) {
    const given = which === null ? null : checkedArray("which", Uint8Array, which, this.numEnvs);
    this.withArray("reset_some", given);
  }

  /**
   * Plays an action in every environment.
   * @param {BigInt64Array | ArrayLike<number>} actions (N,)
   * @returns {number} how many episodes ended
   * @throws {RungsError} ILLEGAL_ACTION: the message names the first; no environment has changed
   */
  step(actions) {
    const given = checkedArray("actions", BigInt64Array, actions, this.numEnvs);
    return this.rungs.withMemory((memory) => {
      const at = memory.put(given); // before `room`, which may detach it
      const ended = memory.room(8);
      this.call("step", at, ended);
      return Number(this.rungs.view(BigInt64Array, ended, 1)[0]);
    });
  }
}

/** A batch of chess environments; `Rungs.chess` makes it. */
export class Chess extends Envs {
  constructor(rungs, settings) {
    super(rungs, "chess", settings);
  }

  /** @returns {Int8Array | Float32Array | BigUint64Array | Uint8Array | Uint16Array} (N, ...) */
  get observation() {
    const ArrayType = this.rungs.observationArray(this.config.observation);
    return this.rows(ArrayType, "observation", this.numEnvs, this.outputs.observation_bytes);
  }

  /** @returns {Int8Array | Float32Array | BigUint64Array | Uint8Array | Uint16Array} (N, ...) */
  get finalObservation() {
    const ArrayType = this.rungs.observationArray(this.config.observation);
    return this.rows(ArrayType, "final_observation", this.numEnvs, this.outputs.observation_bytes);
  }

  /** @returns {Uint8Array | BigUint64Array | Int16Array} (N, 4672), (N, 73) or (N, 218) */
  get mask() {
    const ArrayType = MASK_ARRAYS[this.config.mask];
    return this.rows(ArrayType, "mask", this.numEnvs, this.outputs.mask_bytes);
  }

  /** @returns {Int8Array} (N,) the side to move: 0 White, 1 Black */
  get player() {
    return this.array(Int8Array, "player", this.numEnvs);
  }

  /** @returns {Int8Array} (N,) indices of `REASONS` */
  get reason() {
    return this.array(Int8Array, "reason", this.numEnvs);
  }

  /**
   * Chooses a legal action in every environment, all equally likely.
   * @param {() => number} random from 0 to less than 1
   * @returns {BigInt64Array} (N,)
   * @throws {RungsError} ARGUMENT: an environment accepts none
   */
  sampleActions(random = Math.random) {
    const n = this.numEnvs;
    if (typeof random !== "function")
      throw new RungsError("ARGUMENT", `random: ${shown(random)} is not a function`);
    return this.rungs.withMemory((memory) => {
      const at = memory.room(8 * n);
      const counts = () => this.rungs.view(BigInt64Array, at, n);
      this.call("count_actions", at);
      const drawn = (count) => checked("random", "i8", Math.floor(checked("random", "f8", random()) * Number(count)));
      counts().set(counts().map(drawn));
      this.call("choose_actions", at, at);
      return counts().slice();
    });
  }

  /**
   * @param {number} env
   * @returns {string} its position
   */
  fen(env) {
    return this.fenOf(env);
  }

  /**
   * Continues an environment from a position.
   * @param {number} env @param {string} fen
   * @throws {RungsError} FEN
   */
  setFen(env, fen) {
    const number = checked("env", "i8", env);
    this.rungs.withMemory((memory) => this.call("set_fen", number, memory.text(fen)));
  }

  /** @returns {Uint8Array} all that later steps depend on, for `restore` */
  save() {
    const size = this.rungs.raw("rungs_chess_state_bytes", this.handle);
    return this.rungs.withMemory((memory) => {
      const at = memory.room(size);
      this.call("save", at);
      return this.rungs.view(Uint8Array, at, size).slice();
    });
  }

  /**
   * Continues from what `save` returned.
   * @param {Uint8Array} state
   * @throws {RungsError} STATE: it is of something else, or damaged
   */
  restore(state) {
    this.withArray("restore", checkedArray("state", Uint8Array, state), state.length);
  }
}

/** A batch of CartPole environments; `Rungs.cartpole` makes it. */
export class CartPole extends Envs {
  constructor(rungs, settings) {
    super(rungs, "cartpole", settings);
  }

  /** @returns {Float32Array} (N, 4), copied */
  get observation() {
    return this.#transposed("observation");
  }

  /** @returns {Float32Array} (N, 4), copied */
  get finalObservation() {
    return this.#transposed("final_observation");
  }

  #transposed(name) {
    const stride = Number(this.outputs.stride);
    const numbers = this.array(Float32Array, name, 4 * stride);
    return Float32Array.from(
      { length: 4 * this.numEnvs },
      (_, i) => numbers[(i % 4) * stride + Math.floor(i / 4)],
    );
  }
}

/**
 * Evaluates leaves: returns for each of `count` rows a logit for each of its legal actions, in rows
 * of MAX_LEGAL, and a value from -1 to 1, to the side to move.
 * @typedef {(search: Search, count: number) => {logits: Float32Array, values: Float32Array}}
 *   Evaluate
 */

/** Tree search over a batch of G games; `Rungs.search` makes it. */
export class Search extends Handle {
  constructor(rungs, settings) {
    super(rungs, "search", settings);
  }

  /** @returns {number} G */
  get numGames() {
    return Number(this.config.num_games);
  }

  /** @returns {Int8Array | Float32Array | BigUint64Array | Uint8Array | Uint16Array} of leaves */
  get observation() {
    const ArrayType = this.rungs.observationArray(this.config.observation);
    return this.rows(ArrayType, "observation", this.numGames, this.outputs.observation_bytes);
  }

  /** @returns {Int16Array} (G, 218) what is legal at the leaves */
  get leafActions() {
    return this.array(Int16Array, "leaf_actions", this.numGames * MAX_LEGAL);
  }

  /** @returns {Int16Array} (G,) how many actions that is */
  get leafCounts() {
    return this.array(Int16Array, "leaf_counts", this.numGames);
  }

  /** @returns {Int8Array} (G,) indices of `REASONS`: whether and why each game is over */
  get reason() {
    return this.array(Int8Array, "reason", this.numGames);
  }

  /** @returns {Int16Array} (G, 218) what is legal at the roots; this and below, after `run` */
  get actions() {
    return this.array(Int16Array, "actions", this.numGames * MAX_LEGAL);
  }

  /** @returns {Int16Array} (G,) how many actions that is */
  get counts() {
    return this.array(Int16Array, "counts", this.numGames);
  }

  /** @returns {Int32Array} (G, 218) */
  get visits() {
    return this.array(Int32Array, "visits", this.numGames * MAX_LEGAL);
  }

  /** @returns {Float32Array} (G, 218) the improved policy */
  get policy() {
    return this.array(Float32Array, "policy", this.numGames * MAX_LEGAL);
  }

  /** @returns {Float32Array} (G, 218) the network's policy, without search */
  get priors() {
    return this.array(Float32Array, "priors", this.numGames * MAX_LEGAL);
  }

  /** @returns {Float32Array} (G, 218) mean value of an action's visits, to the side to move */
  get actionValues() {
    return this.array(Float32Array, "action_values", this.numGames * MAX_LEGAL);
  }

  /** @returns {Int32Array} (G,) how many positions the trees hold */
  get nodes() {
    return this.array(Int32Array, "nodes", this.numGames);
  }

  /** @returns {Float32Array} (G,) mean value of the roots' visits, to the side to move */
  get value() {
    return this.array(Float32Array, "value", this.numGames);
  }

  /** @returns {Float32Array} (G,) the network's value of the roots */
  get rawValue() {
    return this.array(Float32Array, "raw_value", this.numGames);
  }

  /** @returns {BigInt64Array} (G,) the actions to play; -1 where nothing was searched */
  get chosen() {
    return this.array(BigInt64Array, "chosen", this.numGames);
  }

  /**
   * Begins a game at a position.
   * @param {number} game @param {string} fen
   * @throws {RungsError} FEN
   */
  begin(game, fen) {
    const number = checked("game", "i8", game);
    this.rungs.withMemory((memory) => this.call("begin", number, memory.text(fen)));
  }

  /**
   * Begins games at the positions of environments of the same numbers, with their past.
   * @param {Chess} envs
   * @param {Uint8Array | ArrayLike<number> | null} which (G,) 0 or 1; null for all
   */
  beginEnvs(envs, which = null) {
    const given = which === null ? null : checkedArray("which", Uint8Array, which, this.numGames);
    const handle = this.handleOf("envs", "chess", envs);
    this.rungs.withMemory((memory) =>
      this.call("begin_envs", handle, given ? memory.put(given) : 0),
    );
  }

  /**
   * Searches all games that are not over; until a game is advanced, the next adds to its tree.
   * @param {Evaluate | import("./agent.js").Network} evaluate
   * @param {number} simulations of each; 0 for those of the settings
   */
  run(evaluate, simulations = 0) {
    const most = checked("simulations", "i4", simulations);
    if (typeof evaluate !== "function")
      return this.call("run", this.handleOf("evaluate", "network", evaluate), 0, most);
    const { rungs, numGames } = this;
    this.call("start", 0, most);
    rungs.withMemory((memory) => {
      const logits = memory.room(4 * numGames * MAX_LEGAL);
      const values = memory.room(4 * numGames);
      const waiting = memory.room(8);
      const simulate = (...evaluated) => {
        this.call("simulate", ...evaluated, waiting);
        return Number(rungs.view(BigInt64Array, waiting, 1)[0]);
      };
      let count = simulate(0, 0n, 0);
      while (count > 0) {
        const found = evaluate(this, count);
        const scores = checkedArray("logits", Float32Array, found?.logits);
        const means = checkedArray("values", Float32Array, found?.values);
        if (scores.length < count * MAX_LEGAL || means.length < count)
          throw new RungsError("ARGUMENT", `evaluations are too few for ${count} leaves`);
        const all = count * MAX_LEGAL;
        rungs.view(Float32Array, logits, all).set(scores.subarray(0, all));
        rungs.view(Float32Array, values, count).set(means.subarray(0, count));
        count = simulate(logits, BigInt(MAX_LEGAL), values);
      }
    });
    this.call("finish");
  }

  /**
   * Writes to a game's results what its tree holds of a node, but for policy and choice: `counts`
   * is 0 where no simulation has gone on from there.
   * @param {number} game
   * @param {ArrayLike<number>} path actions that lead there from the root
   */
  look(game, path = []) {
    const number = checked("game", "i8", game);
    const given = checkedArray("path", Int16Array, path);
    this.rungs.withMemory((memory) =>
      this.call("look", number, memory.put(given), BigInt(given.length)),
    );
  }

  /**
   * Plays an action in each game.
   * @param {BigInt64Array | ArrayLike<number>} actions (G,), -1 for none; by default those `chosen`
   * @throws {RungsError} ILLEGAL_ACTION: no game has changed
   */
  advance(actions = this.chosen.slice()) {
    this.withArray("advance", checkedArray("actions", BigInt64Array, actions, this.numGames));
  }

  /**
   * @param {number} game
   * @returns {string} its position
   */
  fen(game) {
    return this.fenOf(game);
  }
}

/**
 * The evaluation without a network: all actions alike, all positions even. With it a search is
 * guided only by the ends of games that it reaches.
 * @type {Evaluate}
 */
export function evenly(_search, count) {
  return { logits: new Float32Array(count * MAX_LEGAL), values: new Float32Array(count) };
}
