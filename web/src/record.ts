// Congestion trees over time, as src/banyan/store/congestion_blob.cpp writes them.

export const kKinds = ["input", "output", "port", "memory", "source"] as const;
export type Kind = (typeof kKinds)[number];

/** A buffer, port, memory or source; `index` is a channel, a switch or a terminal. */
export interface Place {
  kind: Kind;
  index: number;
  /** 0xffffff: the memory that the queues of one place share. */
  lane: number;
  capacity: number;
}

export interface FlowCount {
  source: number;
  destination: number;
  packets: number;
}

export interface Member {
  place: number;
  /** Switches between it and the root. */
  depth: number;
  /** Packets in it that do not go through the root. */
  victims: number;
}

export interface Tree {
  id: number;
  /** Channel. */
  root: number;
  depth: number;
  leaves: number;
  switches: number;
  sources: number;
  packets: number;
  flows: number;
  victims: number;
  victimFlows: number;
  idlePorts: number;
  members: Member[];
  perStage: number[];
  mostFlows: FlowCount[];
  mostVictims: FlowCount[];
}

/** A queue that the switch set aside for what it takes for a tree. */
export interface SetAside {
  place: number;
  root: number | null;
  used: number;
}

export interface Sample {
  at: number;
  flits: number;
  packets: number;
  latency: number;
  trees: Tree[];
  queues: SetAside[];
  /** By place: 0 empty, 255 full; later places are empty. */
  fill: Uint8Array;
  /** By channel: 255 when it carries something. */
  use: Uint8Array;
}

export const kEvents = [
  "born",
  "grown",
  "root moved downstream",
  "root moved upstream",
  "merged",
  "split",
  "overlapping but separate",
  "died",
] as const;

export interface TreeEvent {
  at: number;
  kind: (typeof kEvents)[number];
  tree: number;
  other: number;
  root: number;
  oldRoot: number;
  members: number;
  depth: number;
}

export interface RecordData {
  interval: number;
  threshold: number;
  places: Place[];
  samples: Sample[];
  events: TreeEvent[];
}

/** Whole numbers in groups of seven bits (LEB128). */
export class ByteReader {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  natural(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error("the record ends too early");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }
  /** 0 is nothing. */
  maybe(): number | null {
    const value = this.natural();
    return value === 0 ? null : value - 1;
  }
  take(count: number): Uint8Array {
    if (this.at + count > this.bytes.length) throw new Error("the record ends too early");
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
  list<T>(read: () => T): T[] {
    const count = this.natural();
    const items: T[] = [];
    for (let i = 0; i < count; ++i) items.push(read());
    return items;
  }
  rest(): Uint8Array {
    return this.bytes.subarray(this.at);
  }
}

function readFlows(reader: ByteReader): FlowCount[] {
  return reader.list(() => ({
    source: reader.natural(),
    destination: reader.natural(),
    packets: reader.natural(),
  }));
}

function readTree(reader: ByteReader): Tree {
  const n = () => reader.natural();
  const head = {
    id: n(),
    root: n(),
    depth: n(),
    leaves: n(),
    switches: n(),
    sources: n(),
    packets: n(),
    flows: n(),
    victims: n(),
    victimFlows: n(),
    idlePorts: n(),
  };
  let depth = 0;
  let place = 0;
  const members = reader.list(() => {
    const deeper = n();
    if (deeper !== 0) place = 0;
    depth += deeper;
    place += n();
    return { place, depth, victims: n() };
  });
  const perStage = reader.list(n);
  return { ...head, members, perStage, mostFlows: readFlows(reader), mostVictims: readFlows(reader) };
}

/** Bytes of every sample, as differences to those of the one before. */
function readChanges(reader: ByteReader, samples: Sample[], set: (sample: Sample, bytes: Uint8Array) => void): void {
  let before = new Uint8Array(0);
  for (const sample of samples) {
    const changes = reader.take(reader.natural());
    const now = new Uint8Array(changes.length);
    for (let i = 0; i < now.length; ++i) now[i] = ((before[i] ?? 0) + (changes[i] ?? 0)) & 0xff;
    set(sample, now);
    before = now;
  }
}

/** Of what is inside the compressed part. */
export function parseRecord(bytes: Uint8Array): RecordData {
  const reader = new ByteReader(bytes);
  const n = () => reader.natural();
  const interval = n();
  const threshold = n() / 1e6;
  const places = reader.list((): Place => {
    const kind = kKinds[n()];
    if (kind === undefined) throw new Error("the record has a place of an unknown kind");
    return { kind, index: n(), lane: n(), capacity: n() };
  });
  let at = 0;
  const samples = reader.list((): Sample => {
    at += n();
    const [flits, packets, latency] = [n(), n(), n()];
    const trees = reader.list(() => readTree(reader));
    const queues = reader.list(() => ({ place: n(), root: reader.maybe(), used: n() }));
    return { at, flits, packets, latency, trees, queues, fill: new Uint8Array(0), use: new Uint8Array(0) };
  });
  readChanges(reader, samples, (sample, now) => {
    sample.fill = now;
  });
  readChanges(reader, samples, (sample, now) => {
    sample.use = now;
  });
  const events = reader.list((): TreeEvent => {
    const time = n();
    const kind = kEvents[n()];
    if (kind === undefined) throw new Error("the record has an unknown event");
    return { at: time, kind, tree: n(), other: n(), root: n(), oldRoot: n(), members: n(), depth: n() };
  });
  return { interval, threshold, places, samples, events };
}

export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Throws when the bytes are not a record. */
export async function readRecord(bytes: Uint8Array): Promise<RecordData> {
  if (new TextDecoder().decode(bytes.subarray(0, 4)) !== "BCT1") throw new Error("the record has an unknown format");
  const outer = new ByteReader(bytes.subarray(4));
  const size = outer.natural();
  const packed = new Blob([outer.rest().slice()]).stream().pipeThrough(new DecompressionStream("deflate"));
  const plain = new Uint8Array(await new Response(packed).arrayBuffer());
  if (plain.length !== size) throw new Error("the record is cut off");
  return parseRecord(plain);
}
