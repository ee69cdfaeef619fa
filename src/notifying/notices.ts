import { z } from 'zod';
import { slugKey } from '../contract/manifest.ts';

// What the operator is told, each change once. A repository has changed if two visits in a row found it so; one that
// fails in every other build is no news each time. What waits for a decision, and a failed build, are reported at once.

const moment = z.iso.datetime();

export const noticeSchema = z.strictObject({
  kind: z.enum(['failing', 'recovered', 'held-back', 'build-failed', 'build-recovered']),
  /** The slug; null for the build as a whole. */
  repository: z.string().nullable(),
  /** Since when, or when it was found. */
  since: moment,
  code: z.string().nullable(),
  /** A sentence, which may contain strangers' text. */
  reason: z.string().nullable(),
});
export type Notice = Readonly<z.infer<typeof noticeSchema>>;

const toldSchema = z.strictObject({
  /** Whether the last notice about it reported trouble. */
  down: z.boolean(),
  /** In how many visits in a row it was found different from that. */
  differing: z.int().min(0),
  /** What is held back and has been reported, each with the number of builds in a row that did not find it any more. */
  held: z.record(z.string(), z.int().min(0)),
});

export const toldStateSchema = z.strictObject({
  repositories: z.record(z.string(), toldSchema),
  /** The reported failure of builds; null if they work. */
  build: z.strictObject({ name: z.string(), working: z.int().min(0) }).nullable(),
});
export type ToldState = Readonly<z.infer<typeof toldStateSchema>>;
type Told = z.infer<typeof toldSchema>;

/** The state of a repository, as a build found it. */
export interface FoundRepository {
  readonly slug: string;
  /** Other slugs that lead to it, such as former ones. */
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

// If something that is held back is the reason for the trouble, only that is reported, once. It does not count as being
// in order again either.
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

/** What was reported about a repository, under its present slug or a former one; undefined if nothing was. */
const readTold = (found: readonly FoundRepository[], before: ToldState | undefined) => {
  const told = new Map(Object.entries(before?.repositories ?? {}).map(([slug, one]) => [slugKey(slug), one]));
  const present = new Set(found.map(({ slug }) => slugKey(slug)));
  return ({ slug, aliases }: FoundRepository): Told | undefined => {
    const former = aliases.map(slugKey).filter((key) => !present.has(key));
    return [slugKey(slug), ...former].map((key) => told.get(key)).find((one) => one !== undefined);
  };
};

/**
 * What to report after a finished build, and what counts as reported from then on. If nothing was ever reported about
 * repositories, for example because all builds failed until now, those already in trouble are no news; what is held
 * back is.
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

/** The same for a failed build. `name` identifies the failure, which is reported once. */
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
