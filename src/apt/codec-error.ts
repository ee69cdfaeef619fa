/**
 * `truncated`: the stream ends before it is whole. `corrupt`: it is broken, or not of this compression. `too-large`:
 * more bytes than allowed, or it asks for more memory than allowed. `ratio`: it expands more than allowed.
 * `trailing-garbage`: something follows that is no further member (in xz and lzma that is `corrupt`).
 */
export type DecompressionCode = 'truncated' | 'corrupt' | 'too-large' | 'ratio' | 'trailing-garbage';

/** What a decoder throws about its stream. */
export class CodecError extends Error {
  override name = 'CodecError';
  readonly code: DecompressionCode;

  constructor(code: DecompressionCode, message: string) {
    super(message);
    this.code = code;
  }
}
