import type { Relation } from '../apt/relations.ts';
import { hasVersion } from './matching.ts';

// What package managers of jailbroken devices make up from the device itself: its firmware, its capabilities ("gsc.…"),
// and its kernel, processor and model ("cy+…"). No repository has packages of these names.
const isOfSystem = (name: string): boolean => name === 'firmware' || name.startsWith('gsc.') || name.startsWith('cy+');

/** The device that is installed on. */
export class Device {
  /** Null where nothing is known of it. */
  readonly firmware: string | null;

  constructor(firmware: string | null) {
    this.firmware = firmware;
  }

  /**
   * Whether the device itself is what a relation names; `refused` where it is, and runs another firmware. What is not
   * known of it is taken to fit.
   */
  meets(relation: Relation): 'met' | 'refused' | undefined {
    if (!relation.readable || !isOfSystem(relation.name)) return undefined;
    if (relation.name !== 'firmware' || this.firmware === null) return 'met';
    return hasVersion(relation, this.firmware) ? 'met' : 'refused';
  }

  /** Whether a package that refuses this refuses the device. */
  isRefusedBy(relation: Relation): boolean {
    return relation.name === 'firmware' && this.firmware !== null && hasVersion(relation, this.firmware);
  }
}
