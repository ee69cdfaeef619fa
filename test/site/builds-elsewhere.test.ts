import fc from 'fast-check';
import { expect, it } from 'vitest';
import { builds } from '../../src/compatibility/builds.ts';
import { parseVersion } from '../../src/compatibility/ios-versions.ts';
import { judge, readStatements } from '../../src/compatibility/judgement.ts';
import { findBuildsElsewhere } from '../../src/site/copies.ts';
import type { PackageVersion } from '../../src/site/site-catalog.ts';
import { joinStatements } from '../../src/site/stated.ts';

const slugs = ['best', 'second', 'third', 'fourth'];
const versions = slugs.map((slug) => ({
  repository: { slug, name: `${slug} repository` } as PackageVersion['repository'],
}));

const made = fc.constantFrom(...builds, 'all:rootful', 'all:rootful,rootless', 'all');
const says = fc.constantFrom('', '=-15.0', '=14.0-', '=16.0-', '~15.0-17.0', '~11.0-12.0', '=14.0-!gsc.ipad');
const statement = fc.tuple(made, says).map(([build, said]) => build + said);
const ofRepository = fc.array(statement, { maxLength: 3 }).map((some) => joinStatements(some));
const devices = builds.flatMap((build) =>
  ['11.2', '14.3', '15.1', '16.7'].map((ios) => ({ ios: parseVersion(ios) ?? 0, build })),
);

it('C14: whatever repositories state, what is said of a device is true of the best one, or of another that is named for it', () => {
  fc.assert(
    fc.property(fc.tuple(...slugs.map(() => ofRepository)), (texts) => {
      const stated = new Map(slugs.flatMap((slug, at) => (texts[at] ? [[slug, texts[at]] as const] : [])));
      const elsewhere = findBuildsElsewhere(versions, stated);
      const wordsOf = (text: string | undefined, device: (typeof devices)[number]) =>
        judge(readStatements(text ?? ''), device).words;
      for (const device of devices) {
        const all = joinStatements(stated.values());
        const { verdict, words } = judge(readStatements(all), device);
        const lines = elsewhere.filter(({ build }) => build === device.build);
        for (const { slug } of lines) expect(slug).not.toBe('best');
        // One that is not chosen among others is the only one there is, and of a build that the best has not.
        for (const { stated: own, isBoth } of lines)
          if (own === undefined) expect([lines.length, isBoth]).toEqual([1, false]);
        if (verdict === 'no-build') expect(lines).toEqual([]);
        else if (wordsOf(stated.get('best'), device) !== words) {
          const told = lines.find((one) => one.stated === undefined || wordsOf(one.stated, device) === words);
          expect(told, `${device.build} ${device.ios}`).toBeDefined();
          // It is the first that has it, and has it whole.
          const first = slugs.slice(1).find((slug) => wordsOf(stated.get(slug), device) === words);
          expect(told?.slug).toBe(first);
        }
      }
    }),
  );
});
