import { expect, it, vi } from 'vitest';
import { RelationIndex } from '../../src/site/relation-index.ts';

it('tells of a name each package that needs it once, and those that provide it', () => {
  const index = new RelationIndex();
  index.add('b', { depends: 'lib (>= 1), lib (<< 3) | other', preDepends: 'lib', provides: 'mail' });
  index.add('a', { depends: 'lib', provides: 'mail, web' });
  expect(index.dependents('lib')).toEqual(['b', 'a']);
  expect(index.dependents('other')).toEqual(['b']);
  expect([index.dependents('mail'), index.providers('lib', false)]).toEqual([[], []]);
  expect([index.providers('mail', false), index.providers('web', false)]).toEqual([['b', 'a'], ['a']]);
});

it('does not tell of a package that it needs itself', () => {
  const index = new RelationIndex();
  index.add('a', { depends: 'a (>= 1)', provides: 'a (= 2)' });
  index.add('b', { depends: 'a' });
  expect(index.dependents('a')).toEqual(['b']);
});

it('tells of a package all names in its relations, each once', () => {
  const index = new RelationIndex();
  index.add('a', {
    depends: 'lib | other',
    suggests: 'lib, help',
    conflicts: 'old',
    provides: 'mail',
    homepage: 'home',
  });
  index.add('b', { recommends: 'lib' });
  index.add('c', {});
  expect(index.namedBy('a')).toEqual(['lib', 'other', 'help', 'old', 'mail']);
  expect([index.namedBy('b'), index.namedBy('c'), index.namedBy('d')]).toEqual([['lib'], [], []]);
});

it('tells of a package what its other builds name, and those that require something else', () => {
  const index = new RelationIndex();
  // What another build alone provides is not there for everybody.
  const build = (architecture: string, depends: string) => ({ architecture, details: { depends, provides: 'post' } });
  const others = [build('arm', 'lib (>=1)'), build('arm64', 'other'), build('arm64e', 'lib (>= 1), help')];
  index.add('a', { depends: 'lib (>= 1)', provides: 'mail' }, others);
  index.add('b', {}, [build('arm64', 'mail')]);
  expect(index.namedBy('a')).toEqual(['lib', 'mail', 'post', 'other', 'help']);
  expect(index.providers('post', false)).toEqual([]);
  expect([index.dependents('other'), index.dependents('mail'), index.providers('mail', false)]).toEqual([
    ['a'],
    ['b'],
    ['a'],
  ]);
  const otherwise = index
    .requiredOtherwise('a')
    .map(({ architecture, groups }) => [architecture, groups.flat().map(({ name }) => name)]);
  expect(otherwise).toEqual([
    ['arm64', ['other']],
    ['arm64e', ['lib', 'help']],
  ]);
  expect([index.requiredBy('b'), index.requiredOtherwise('c')]).toEqual([[], []]);
});

it('finds what needs others through what it needs, and reads each name once however many provide it', () => {
  const index = new RelationIndex();
  index.add('a', { depends: 'elsewhere', provides: 'mail, web' });
  index.add('b', { depends: 'elsewhere', provides: 'mail, web' });
  index.add('c', { depends: 'mail' });
  index.add('d', { preDepends: 'c | unheard-of', provides: 'mail' });
  index.add('e', { recommends: 'c', depends: 'f' });
  index.add('f', { provides: 'other' });
  const read = vi.spyOn(index, 'dependents');
  expect([...index.withDependents(['a', 'b'])]).toEqual(['a', 'b', 'c', 'd']);
  expect(read.mock.calls.flat()).toEqual(['a', 'mail', 'web', 'b', 'c', 'd']);
});
