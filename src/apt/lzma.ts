import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  LZMA_BUF_ERROR,
  LZMA_FINISH,
  LZMA_MEMLIMIT_ERROR,
  LZMA_OK,
  LZMA_RUN,
  LZMA_STREAM_END,
  type LZMAModule,
  WasmLzmaStream,
} from 'node-liblzma/wasm';
import createLiblzma from 'node-liblzma/wasm/liblzma.js';
import { CodecError, type DecompressionCode } from './codec-error.ts';

// Flags of lzma/container.h that the package does not name.
const tellUnsupportedCheck = 0x02;
const concatenated = 0x08;

// Enough for the largest dictionary that `xz -9` uses, 64 MiB.
const memoryLimit = 80n << 20n;
const inputBytes = 64 << 10;
const outputBytes = 64 << 10;

// The part of WebAssembly that is used here. TypeScript declares it only together with browsers.
declare const WebAssembly: {
  compile(binary: Uint8Array): Promise<object>;
  instantiate(module: object, imports: object): Promise<object>;
};

let compiled: Promise<object> | undefined;

/**
 * Every stream has an instance of liblzma, so that its memory is freed with the stream, and streams do not compete for
 * it.
 */
const instantiate = async (): Promise<LZMAModule> => {
  compiled ??= readFile(fileURLToPath(import.meta.resolve('node-liblzma/wasm/liblzma.wasm'))).then((binary) =>
    WebAssembly.compile(binary),
  );
  const module = await compiled;
  return createLiblzma({
    instantiateWasm(imports: object, done: (instance: object) => void) {
      WebAssembly.instantiate(module, imports).then(done);
      return {};
    },
  });
};

/**
 * Decompresses .xz (with concatenated streams and padding) or .lzma with liblzma. Yields pieces of up to 64 KiB on
 * demand. `onConsumed` is called with the number of compressed bytes used so far. Throws CodecError.
 */
export async function* decodeLzma(
  source: AsyncIterable<Uint8Array>,
  format: 'xz' | 'lzma',
  onConsumed: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const module = await instantiate();
  const stream = new WasmLzmaStream(module);
  const flags = concatenated | tellUnsupportedCheck;
  const started =
    format === 'xz'
      ? module._lzma_stream_decoder(stream.ptr, memoryLimit, flags)
      : module._lzma_auto_decoder(stream.ptr, memoryLimit, flags);
  if (started !== LZMA_OK) throw failure(started);
  const input = module._malloc(inputBytes);
  const output = module._malloc(outputBytes);
  let fed = 0;

  function* run(action: number): Generator<Uint8Array, number> {
    for (;;) {
      stream.setOutput(output, outputBytes);
      const status = module._lzma_code(stream.ptr, action);
      onConsumed(fed - stream.availIn);
      const produced = outputBytes - stream.availOut;
      if (produced > 0) yield Buffer.from(module.HEAPU8.subarray(output, output + produced));
      if (status !== LZMA_OK) return status;
      if (action === LZMA_RUN && stream.availIn === 0 && produced < outputBytes) return status;
    }
  }

  for await (const chunk of source) {
    // This decoder would accept .xz here, too, but a file that does not match its name is refused.
    if (fed === 0 && format === 'lzma' && chunk[0] === 0xfd) throw new CodecError('corrupt', 'not .lzma');
    for (let at = 0; at < chunk.length; at += inputBytes) {
      const piece = chunk.subarray(at, at + inputBytes);
      module.HEAPU8.set(piece, input);
      stream.setInput(input, piece.length);
      fed += piece.length;
      const status = yield* run(LZMA_RUN);
      if (status !== LZMA_OK && status !== LZMA_BUF_ERROR) throw failure(status);
    }
  }
  const status = yield* run(LZMA_FINISH);
  if (status !== LZMA_STREAM_END) throw failure(status);
}

const failure = (status: number): CodecError => {
  let code: DecompressionCode = 'corrupt';
  if (status === LZMA_BUF_ERROR) code = 'truncated';
  if (status === LZMA_MEMLIMIT_ERROR) code = 'too-large';
  return new CodecError(code, `liblzma stopped with status ${status}`);
};
