import { describe, expect, it } from 'vitest';
import { algorithmsFor, checkDigests, createDigests, sha256Hex } from '../../src/apt/checksums.ts';

const bytes = Buffer.from('abc');
const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const md5 = '900150983cd24fb0d6963f7d28e17f72';

describe('checksums', () => {
  it('hashes at once and while passing', () => {
    expect(sha256Hex(bytes)).toBe(sha256);
    const digests = createDigests(['md5', 'sha256']);
    for (const byte of bytes) digests.update(Uint8Array.of(byte));
    expect(digests.result()).toEqual({ size: 3, md5, sha256 });
  });

  it('C3: accepts only what agrees in size and in every strong hash', () => {
    const actual = { size: 3, md5, sha256, sha512: 'x' };
    expect(checkDigests({ size: 3, sha256, md5: 'wrong' }, actual)).toEqual({ strong: true, mismatch: null });
    expect(checkDigests({ size: 4, sha256 }, actual).mismatch).toEqual({
      algorithm: 'size',
      expected: '4',
      actual: '3',
    });
    expect(checkDigests({ size: 3, sha256, sha512: 'y' }, actual).mismatch?.algorithm).toBe('sha512');
    expect(checkDigests({ size: 3, sha256: 'y', sha512: 'x' }, actual).mismatch?.algorithm).toBe('sha256');
    expect(checkDigests({ size: 3, sha256 }, { size: 3, md5 }).mismatch).toEqual({
      algorithm: 'sha256',
      expected: sha256,
      actual: '',
    });
  });

  it('C3: compares weak hashes where there is no strong one, and says that they are weak', () => {
    expect(checkDigests({ size: 3, md5 }, { size: 3, md5 })).toEqual({ strong: false, mismatch: null });
    expect(checkDigests({ size: 3, md5 }, { size: 3, md5: 'x' }).mismatch?.algorithm).toBe('md5');
    expect(checkDigests({ size: 3 }, { size: 3 })).toEqual({ strong: false, mismatch: null });
    expect(algorithmsFor({ md5, sha1: 'x' })).toEqual(['md5', 'sha1']);
    expect(algorithmsFor({ md5, sha256 })).toEqual(['sha256']);
  });
});
