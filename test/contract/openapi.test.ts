import { describe, expect, it } from 'vitest';
import { isOpenFile } from '../../src/contract/file-headers.ts';
import { encodeFileName, encodeFolderName } from '../../src/contract/filenames.ts';
import { gatewayOperations } from '../../src/contract/gateway-schemas.ts';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { documentOperations, publicationOperations, siteOperations } from '../../src/contract/openapi-documents.ts';
import { type Operation, operations } from '../../src/contract/paths.ts';
import { expectReferences, lintDescription } from '../support/api-description.ts';

const description = createOpenApi({
  publicAddress: 'https://index.test',
  version: '1.2.3',
});

describe('OpenAPI description', () => {
  it('passes a third-party linter', async () => {
    expect(await lintDescription(JSON.stringify(description))).toEqual([]);
  });

  it('describes every operation, document, feed and gateway operation of the tables and no other', () => {
    const paths = description.paths as Record<string, Record<string, unknown>>;
    const described = Object.entries(paths).flatMap(([address, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== 'servers')
        .map((method) => `${method.toUpperCase()} ${address}`),
    );
    const tables = [operations, documentOperations, publicationOperations, gatewayOperations, siteOperations];
    const known = tables
      .flatMap((table): Operation[] => Object.values(table))
      .map(({ method, address }: Operation) => `${method} ${address}`);
    expect(described.sort()).toEqual(known.sort());
  });

  it('resolves every reference', () => {
    expectReferences(description);
  });

  it('asks for feeds and badges at the root of the host, and leaves them out where there is no site', () => {
    const servers = (paths: unknown) => (paths as Record<string, { servers?: object }>)['/feed.atom']?.servers;
    expect(servers(description.paths)).toEqual([{ url: 'https://index.test' }]);
    const { paths } = createOpenApi({ publicAddress: 'https://index.test', version: '1', site: false });
    expect(Object.keys(paths as object)).toEqual(
      Object.keys(description.paths as object).filter((address) => !/feed|badge/.test(address)),
    );
  });

  it('promises to scripts of other sites what they may read: all that is described, feeds and badges too', () => {
    const files = Object.values(siteOperations).map(({ file }) => file?.replaceAll(/\{\w+\}/g, 'x/y') ?? '');
    expect(files.filter((file) => !isOpenFile(file))).toEqual([]);
    expect(['index.html', 'package/feed.html', 'sitemap.xml', 'assets/badge/x.svg'].filter(isOpenFile)).toEqual([]);
    const textOf = (options: object) => {
      const { info } = createOpenApi({ publicAddress: 'https://index.test', version: '1', ...options });
      return (info as { description: string }).description;
    };
    expect(textOf({})).toContain('may read all of it, but for what the gateway answers (CORS).');
    expect(textOf({ staticRefs: true })).toContain('may read all of it (CORS).');
  });

  it('says how an identifier is written in the name of a file, so that one with capitals is found on a host of files too', () => {
    for (const staticRefs of [false, true]) {
      const { info } = createOpenApi({ publicAddress: 'https://index.test', version: '1', staticRefs });
      const text = (info as { description: string }).description;
      expect(/`(Foo_Bar)` becomes `(.+?)`/.exec(text)?.slice(1)).toEqual(['Foo_Bar', encodeFileName('Foo_Bar')]);
      expect(/`(foo\.json)` is below `(.+?)`/.exec(text)?.slice(1)).toEqual(['foo.json', encodeFolderName('foo.json')]);
      const longest = Number(/more than (\d+) bytes/.exec(text)?.[1]);
      expect(encodeFileName('a'.repeat(longest))).toBe('a'.repeat(longest));
      expect(encodeFileName('a'.repeat(longest + 1))).toBe(`${'a'.repeat(longest)}_/a`);
      expect(text).toContain('as long as it can be without dividing what a byte became');
      expect(encodeFileName('é'.repeat(42))).toBe(`${'=c3=a9'.repeat(41)}=c3_/=a9`);
    }
  });

  it('dates every deprecation, and says what to use instead', () => {
    const schemas = (description.components as { schemas: Record<string, { properties?: object }> }).schemas;
    const fields = Object.values(schemas).flatMap(({ properties = {} }) =>
      Object.entries(properties as Record<string, { deprecated?: boolean; description?: string }>),
    );
    const deprecated = fields.filter(([, field]) => field.deprecated === true);
    expect(new Set(deprecated.map(([name]) => name))).toEqual(
      new Set(['slug', 'isBootstrap', 'tier', 'package', 'repositoryTier']),
    );
    for (const [name, field] of deprecated) {
      expect(field.description, name).toMatch(/; use \w+\. Deprecated since \d{4}-\d\d-\d\d\.$/);
    }
  });
});
