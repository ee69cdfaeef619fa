import { areCrumbs } from './crumbs.ts';

// RFC 8878 §3.1.
const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;
const frameIdBytes = [0, 1, 2, 4];
const contentSizeBytes = [0, 2, 4, 8];

/**
 * How a scan ended: at the end of a frame, inside one, at bytes that begin none, or because there were too many frames
 * for their content.
 */
type FrameEnd = 'boundary' | 'inside' | 'garbage' | 'crumbs';

type State =
  | { at: 'magic' }
  | { at: 'skippable-size' }
  | { at: 'descriptor' }
  | { at: 'header'; checksum: boolean }
  | { at: 'block'; checksum: boolean }
  | { at: 'body'; then: State; remaining: number };

/**
 * Finds the ends of zstd frames, without decompressing them, in bytes that arrive in any pieces. Node's decoder
 * silently stops reading a chunk at the end of a frame, so it must be given one frame at a time.
 */
export const createFrameScanner = (): {
  /**
   * Cuts `chunk` at the ends of frames, and leaves out skippable frames. Stops at bytes that begin no frame, and at
   * crumbs.
   */
  split(chunk: Uint8Array): Uint8Array[];
  state(): FrameEnd;
  /** Whether a frame with content has begun. */
  any(): boolean;
} => {
  let state: State = { at: 'magic' };
  let needed = 4;
  const value = Buffer.alloc(16);
  let filled = 0;
  let garbage = false;
  let crumbs = false;
  let skippable = false;
  let any = false;
  let frames = 0;
  let scanned = 0;

  const expect = (next: State, bytes: number): void => {
    state = next;
    needed = bytes;
    filled = 0;
  };

  /** Handles a complete part of a header. Returns whether a frame has ended. */
  const advance = (): boolean => {
    if (state.at === 'magic') {
      const magic = value.readUInt32LE(0);
      skippable = (magic & 0xfffffff0) >>> 0 === skippableMagic;
      frames++;
      if (magic === frameMagic) any = true;
      else if (!skippable) garbage = true;
      if (skippable) expect({ at: 'skippable-size' }, 4);
      else expect({ at: 'descriptor' }, 1);
      return false;
    }
    if (state.at === 'skippable-size') return enterBody({ at: 'magic' }, value.readUInt32LE(0), 4);
    if (state.at === 'descriptor') {
      const descriptor = value.readUInt8(0);
      const single = (descriptor & 0x20) !== 0;
      const sizeCode = descriptor >> 6;
      const size = sizeCode === 0 && single ? 1 : (contentSizeBytes[sizeCode] ?? 0);
      const rest = (single ? 0 : 1) + (frameIdBytes[descriptor & 3] ?? 0) + size;
      const checksum = (descriptor & 4) !== 0;
      if (rest === 0) expect({ at: 'block', checksum }, 3);
      else expect({ at: 'header', checksum }, rest);
      return false;
    }
    if (state.at === 'header') {
      expect({ at: 'block', checksum: state.checksum }, 3);
      return false;
    }
    if (state.at !== 'block') return false;
    const header = value.readUIntLE(0, 3);
    const size = ((header >> 1) & 3) === 1 ? 1 : header >> 3;
    if ((header & 1) === 0) return enterBody(state, size, 3);
    return enterBody({ at: 'magic' }, size + (state.checksum ? 4 : 0), 4);
  };

  const enterBody = (then: State, remaining: number, nextBytes: number): boolean => {
    if (remaining === 0) {
      expect(then, nextBytes);
      return then.at === 'magic';
    }
    state = { at: 'body', then, remaining };
    return false;
  };

  return {
    split(chunk) {
      const parts: Uint8Array[] = [];
      let from = 0;
      let at = 0;
      const emit = (): void => {
        if (at > from && !skippable) parts.push(chunk.subarray(from, at));
        from = at;
      };
      // A magic number is held back until it is complete, because only then is it known what it begins.
      const emitMagic = (): void => {
        from = at;
        if (!skippable) parts.push(Uint8Array.from(value.subarray(0, 4)));
      };
      while (at < chunk.length && !garbage && !crumbs) {
        let ended = false;
        if (state.at === 'body') {
          const step = Math.min(state.remaining, chunk.length - at);
          at += step;
          state.remaining -= step;
          if (state.remaining > 0) break;
          ended = state.then.at === 'magic';
          expect(state.then, ended ? 4 : 3);
        } else {
          value[filled] = chunk[at] ?? 0;
          filled += 1;
          at += 1;
          if (filled < needed) continue;
          const beginning = state.at === 'magic';
          ended = advance();
          if (beginning && !garbage) emitMagic();
        }
        if (ended) {
          emit();
          skippable = false;
          crumbs = areCrumbs(frames, scanned + at);
        }
      }
      scanned += chunk.length;
      if (!garbage && state.at !== 'magic') emit();
      return parts;
    },
    state() {
      if (garbage) return 'garbage';
      if (crumbs) return 'crumbs';
      return state.at === 'magic' && filled === 0 ? 'boundary' : 'inside';
    },
    any: () => any,
  };
};
