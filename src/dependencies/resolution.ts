import type { Relation } from '../apt/relations.ts';
import type { NewestRecord } from '../catalog/dependency-reading.ts';
import { closureLimits } from '../contract/dependency-records.ts';
import type { Candidates, Offers } from './candidates.ts';
import { type Chosen, ChosenPackages } from './chosen.ts';
import type { Device } from './device.ts';
import { hasVersion } from './matching.ts';
import type { Need, PackageRelations } from './package-relations.ts';
import { type Steps, TooLarge, type Work } from './work.ts';

/** Why a candidate was not chosen. */
export type Refusal =
  | { readonly reason: 'conflict'; readonly candidate: NewestRecord; readonly with: NewestRecord | null }
  | { readonly reason: 'dependency'; readonly candidate: NewestRecord };

/** A need that cannot be satisfied. */
export interface Unmet {
  /** The package that has the need; null for what was asked for. */
  readonly by: NewestRecord | null;
  readonly need: Need;
  /**
   * Why the candidates of each alternative were not chosen, by the number of the alternative. Alternatives without
   * candidates are left out.
   */
  readonly refusals: ReadonlyMap<number, Refusal>;
}

/** A need that the device satisfies. */
export interface MetByDevice {
  readonly by: NewestRecord | null;
  readonly relation: Relation;
  readonly reason: 'system' | 'essential';
}

/** What would be installed if certain repositories are configured. */
export interface Resolution {
  readonly chosen: readonly Chosen[];
  readonly device: readonly MetByDevice[];
  readonly unmet: readonly Unmet[];
  /** Whether it stopped early because it took too much. */
  readonly isTooLarge: boolean;
}

/** A need in progress: its candidates, and how many of them were tried. */
interface Trial {
  readonly need: Need;
  readonly candidates: readonly { readonly alternative: number; readonly record: NewestRecord }[];
  readonly refusals: Map<number, Refusal>;
  at: number;
  isLast: boolean;
}

/** A package whose needs are being satisfied. */
interface Frame {
  /** Null for the question itself. */
  readonly record: NewestRecord | null;
  readonly needs: readonly Need[];
  /** Whether it stays even if a need cannot be satisfied, because nothing else could replace it. */
  readonly stays: boolean;
  /** How many packages were chosen, and needs met by the device, before it. */
  readonly chosenBefore: number;
  readonly deviceBefore: number;
  next: number;
  trial: Trial | undefined;
}

/** Records that must not be chosen, each with the record that it would keep out. */
export type Avoided = ReadonlyMap<number, NewestRecord>;

interface ResolverOptions {
  readonly offers: Offers;
  readonly candidates: Candidates;
  readonly device: Device;
  readonly work: Work;
  readonly avoided: Avoided;
}

/**
 * Satisfies the needs of what is asked for as apt does (apt 2.6, MarkInstall): depth first, in the order written. An
 * alternative that is already chosen is preferred, then the first one that can be installed with all that it needs.
 * What cannot be installed is not tried again, so the time is proportional to what is examined. If no alternative can
 * be installed, the first existing one is chosen anyway and its unsatisfied needs are named, so that the answer says
 * what is missing at the bottom rather than at the top.
 */
export class Resolver {
  readonly #offers: Offers;
  readonly #candidates: Candidates;
  readonly #device: Device;
  readonly #work: Work;
  readonly #chosen: ChosenPackages;
  readonly #metByDevice: MetByDevice[] = [];
  readonly #unmet: Unmet[] = [];
  readonly #failed = new Map<number, Refusal>();
  readonly #stack: Frame[] = [];

  readonly #avoided: Avoided;

  constructor({ offers, candidates, device, work, avoided }: ResolverOptions) {
    this.#avoided = avoided;
    this.#offers = offers;
    this.#candidates = candidates;
    this.#device = device;
    this.#work = work;
    this.#chosen = new ChosenPackages(offers.architecture, work);
  }

  *resolve(question: Relation): Steps<Resolution> {
    let isTooLarge = false;
    try {
      this.#push(null, [{ field: null, alternatives: [question] }], true);
      for (let frame = this.#stack.at(-1); frame !== undefined; frame = this.#stack.at(-1)) {
        this.#work.spend();
        yield;
        if (frame.trial === undefined) yield* this.#begin(frame);
        else yield* this.#try(frame, frame.trial);
      }
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      isTooLarge = true;
    }
    return { chosen: this.#chosen.list, device: this.#metByDevice, unmet: this.#unmet, isTooLarge };
  }

  #push(record: NewestRecord | null, needs: readonly Need[], stays: boolean): void {
    this.#stack.push({
      record,
      needs,
      stays,
      chosenBefore: this.#chosen.list.length,
      deviceBefore: this.#metByDevice.length,
      next: 0,
      trial: undefined,
    });
  }

  /** Begins the next need of a package, or finishes the package. */
  *#begin(frame: Frame): Steps<void> {
    const need = frame.needs[frame.next++];
    if (need === undefined) {
      this.#stack.pop();
      const below = this.#stack.at(-1);
      if (below) below.trial = undefined;
      return;
    }
    if (yield* this.#isMet(frame, need)) return;
    const candidates: { alternative: number; record: NewestRecord }[] = [];
    for (const [alternative, relation] of need.alternatives.entries()) {
      if (this.#work.spend()) yield;
      for (const record of yield* this.#candidates.meeting(relation)) candidates.push({ alternative, record });
    }
    frame.trial = { need, candidates, refusals: new Map(), at: 0, isLast: false };
  }

  *#isMet(frame: Frame, { alternatives }: Need): Steps<boolean> {
    for (const relation of alternatives) {
      if (this.#work.spend()) yield;
      if (frame.record !== null && this.#device.meets(relation) === 'met') {
        this.#meetByDevice({ by: frame.record, relation, reason: 'system' });
        return true;
      }
      if ((yield* this.#chosen.meeting(relation)) !== undefined) return true;
    }
    return false;
  }

  /** Tries the next candidate of a need. If there is none, decides what becomes of the package. */
  *#try(frame: Frame, trial: Trial): Steps<void> {
    const candidate = trial.candidates[trial.at++];
    if (candidate !== undefined) {
      yield* this.#take(frame, trial, candidate);
      return;
    }
    if (!trial.isLast && this.#isEssentialElsewhere(frame, trial.need)) {
      frame.trial = undefined;
      return;
    }
    if (!frame.stays) {
      this.#fail(frame);
      return;
    }
    if (!trial.isLast) {
      trial.isLast = true;
      const found = trial.candidates.find(({ record }) => this.#failed.get(record.record)?.reason === 'dependency');
      if (found !== undefined) {
        yield* this.#take(frame, trial, found);
        return;
      }
    }
    if (this.#unmet.length >= closureLimits.entries) throw new TooLarge();
    this.#unmet.push({ by: frame.record, need: trial.need, refusals: trial.refusals });
    frame.trial = undefined;
  }

  *#take(frame: Frame, trial: Trial, { alternative, record }: Trial['candidates'][number]): Steps<void> {
    const refuse = (refusal: Refusal): void => {
      if (!trial.refusals.has(alternative)) trial.refusals.set(alternative, refusal);
    };
    const known = trial.isLast ? undefined : this.#failed.get(record.record);
    if (known !== undefined) return refuse(known);
    const relation = trial.need.alternatives[alternative];
    if (relation === undefined) return;
    if (frame.record !== null && this.#offers.isOfBootstrap(record)) {
      this.#meetByDevice({ by: frame.record, relation, reason: 'essential' });
      frame.trial = undefined;
      return;
    }
    this.#work.visit();
    const keptFor = this.#avoided.get(record.record);
    if (keptFor !== undefined) return refuse({ reason: 'conflict', candidate: record, with: keptFor });
    const relations = this.#offers.relations(record);
    const refusal = yield* this.#findConflict(record, relations);
    if (refusal !== undefined) {
      this.#failed.set(record.record, refusal);
      return refuse(refusal);
    }
    this.#push(record, relations.needs, frame.record === null || trial.isLast);
    const requiredBy = frame.record === null ? null : { name: frame.record.name, relation };
    this.#chosen.add({ record, relations, requiredBy });
  }

  *#findConflict(record: NewestRecord, relations: PackageRelations): Steps<Refusal | undefined> {
    if (relations.refusals.some((relation) => this.#device.isRefusedBy(relation))) {
      return { reason: 'conflict', candidate: record, with: null };
    }
    const other = yield* this.#chosen.conflicting(record, relations);
    return other && { reason: 'conflict', candidate: record, with: other.record };
  }

  #fail({ record, chosenBefore, deviceBefore }: Frame): void {
    this.#stack.pop();
    this.#chosen.cutTo(chosenBefore);
    this.#metByDevice.length = deviceBefore;
    if (record !== null) this.#failed.set(record.record, { reason: 'dependency', candidate: record });
    const below = this.#stack.at(-1);
    const tried = below?.trial?.candidates[below.trial.at - 1];
    if (record === null || below?.trial === undefined || tried === undefined) return;
    if (!below.trial.refusals.has(tried.alternative)) {
      below.trial.refusals.set(tried.alternative, { reason: 'dependency', candidate: record });
    }
  }

  // A device has the essential packages of its bootstrap, whichever that is.
  #isEssentialElsewhere({ record: by }: Frame, { alternatives }: Need): boolean {
    if (by === null) return false;
    for (const relation of alternatives) {
      if (!relation.readable) continue;
      for (const one of this.#offers.newest(relation.name)) {
        this.#work.spend();
        if (!hasVersion(relation, one.version) || !this.#offers.fits(relation, one)) continue;
        if (!this.#offers.isOfBootstrap(one)) continue;
        this.#meetByDevice({ by, relation, reason: 'essential' });
        return true;
      }
    }
    return false;
  }

  #meetByDevice(met: MetByDevice): void {
    this.#metByDevice.push(met);
  }
}
