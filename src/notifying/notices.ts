import { z } from 'zod';
import { slugKey } from '../contract/manifest.ts';

// What the operator is told: each change once. A repository changed when two builds that visited it in a row found it
// so: one that fails in every other build is no news in each of them. What waits for a word and a build that failed are
// told at once.

const moment = z.iso.datetime();

export const noticeSchema = z.strictObject({
  kind: z.enum(['failing', 'recovered', 'held-back', 'build-failed', 'build-recovered']),
  /** The slug; null where it is about the build as a whole. */
  repository: z.string().nullable(),
  /** Since when, or when it was found. */
  since: moment,
  code: z.string().nullable(),
  /** A sentence, which may hold texts of strangers. */
  reason: z.string().nullable(),
});
export type Notice = Readonly<z.infer<typeof noticeSchema>>;

const toldSchema = z.strictObject({
  /** Whether it was last told to be in trouble. */
  down: z.boolean(),
  /** In how many visits in a row it was found otherwise. */
  differing: z.int().min(0),
  /** What is held back and was told, each with the number of builds in a row that did not find it any more. */
  held: z.record(z.string(), z.int().min(0)),
});

export const toldStateSchema = z.strictObject({
  repositories: z.record(z.string(), toldSchema),
  /** The failure of builds that was told; null where they work. */
  build: z.strictObject({ name: z.string(), working: z.int().min(0) }).nullable(),
});
export type ToldState = Readonly<z.infer<typeof toldStateSchema>>;
type Told = z.infer<typeof toldSchema>;

/** How a repository fares, as a build found it. */
export interface FoundRepository {
  readonly slug: string;
  /** Other slugs that lead to it, such as those that it had before. */
  readonly aliases: readonly string[];
  readonly down: boolean;
  readonly isVisited: boolean;
  readonly since: string;
  readonly code: string | null;
  readonly reason: string | null;
  readonly heldBack: readonly { readonly code: string; readonly reason: string }[];
}

/** How many visits, or builds, in a row must agree. */
const agreeing = 2;
const longestReason = 500;

const shorten = (text: string | null): string | null =>
  text === null || text.length <= longestReason ? text : `${text.slice(0, longestReason - 1).toWellFormed()}…`;

// What is down because something is held back is told as that, once; nor is it in order again by that.
const isDownAsHeldBack = ({ down, code, heldBack }: FoundRepository): boolean =>
  down && heldBack.some((one) => one.code === code);

const isInTrouble = (one: FoundRepository): boolean => one.down && !isDownAsHeldBack(one);

const followTrouble = (one: FoundRepository, told: Told): { told: Told; notices: Notice[] } => {
  if (!one.isVisited) return { told, notices: [] };
  if (isDownAsHeldBack(one)) return { told: { ...told, differing: 0 }, notices: [] };
  const { down } = one;
  if (down === told.down) return { told: { ...told, differing: 0 }, notices: [] };
  if (told.differing + 1 < agreeing) return { told: { ...told, differing: told.differing + 1 }, notices: [] };
  const { slug, since, code, reason } = one;
  const notice: Notice = {
    kind: down ? 'failing' : 'recovered',
    repository: slug,
    since,
    code: down ? code : null,
    reason: down ? shorten(reason) : null,
  };
  return { told: { ...told, down, differing: 0 }, notices: [notice] };
};

const followHeldBack = (one: FoundRepository, told: Told, at: string): { held: Told['held']; notices: Notice[] } => {
  const held: Told['held'] = Object.create(null);
  for (const [code, absent] of Object.entries(told.held)) {
    const isThere = one.heldBack.some((each) => each.code === code);
    if (isThere) held[code] = 0;
    else if (absent + 1 < agreeing) held[code] = absent + 1;
  }
  const fresh = one.heldBack.filter(({ code }) => !Object.hasOwn(told.held, code));
  for (const { code } of fresh) held[code] = 0;
  const notices = fresh.map(
    ({ code, reason }): Notice => ({
      kind: 'held-back',
      repository: one.slug,
      since: at,
      code,
      reason: shorten(reason),
    }),
  );
  return { held, notices };
};

interface Followed {
  readonly state: ToldState;
  readonly notices: readonly Notice[];
}

/** What was told of a repository, under the slug that it has now or one that it had then; undefined where nothing was. */
const readTold = (found: readonly FoundRepository[], before: ToldState | undefined) => {
  const told = new Map(Object.entries(before?.repositories ?? {}).map(([slug, one]) => [slugKey(slug), one]));
  const present = new Set(found.map(({ slug }) => slugKey(slug)));
  return ({ slug, aliases }: FoundRepository): Told | undefined => {
    const former = aliases.map(slugKey).filter((key) => !present.has(key));
    return [slugKey(slug), ...former].map((key) => told.get(key)).find((one) => one !== undefined);
  };
};

/**
 * What a build that ended has to tell, and what is told from then on. Where nothing was told of any repository yet, as
 * where builds failed until now, those that are in trouble already are no news; what is held back is.
 */
export const followBuild = (found: readonly FoundRepository[], at: string, before: ToldState | undefined): Followed => {
  const repositories: ToldState['repositories'] = Object.create(null);
  const notices: Notice[] = [];
  const toldOf = readTold(found, before);
  const isFirst = Object.keys(before?.repositories ?? {}).length === 0;
  for (const one of found) {
    const told = toldOf(one) ?? { down: isFirst && isInTrouble(one), differing: 0, held: {} };
    const trouble = followTrouble(one, told);
    const waiting = followHeldBack(one, told, at);
    notices.push(...trouble.notices, ...waiting.notices);
    repositories[one.slug] = { ...trouble.told, held: waiting.held };
  }
  const { build = null } = before ?? {};
  if (build === null) return { state: { repositories, build }, notices };
  const working = build.working + 1;
  if (working < agreeing) return { state: { repositories, build: { ...build, working } }, notices };
  const recovered: Notice = { kind: 'build-recovered', repository: null, since: at, code: null, reason: null };
  return { state: { repositories, build: null }, notices: [recovered, ...notices] };
};

/** The same of a build that failed; `name` is that of the failure, which is told once. */
export const followFailure = (
  { name, reason }: { readonly name: string; readonly reason: string },
  at: string,
  before: ToldState | undefined,
): Followed => {
  const state: ToldState = { repositories: before?.repositories ?? {}, build: { name, working: 0 } };
  if (before?.build?.name === name) return { state, notices: [] };
  const notice: Notice = { kind: 'build-failed', repository: null, since: at, code: name, reason: shorten(reason) };
  return { state, notices: [notice] };
};
