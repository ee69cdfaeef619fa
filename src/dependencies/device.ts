import type { Relation } from '../apt/relations.ts';
import { isOfDevice } from '../compatibility/device-packages.ts';
import { hasVersion } from './matching.ts';

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
    if (!relation.readable || !isOfDevice(relation.name)) return undefined;
    if (relation.name !== 'firmware' || this.firmware === null) return 'met';
    return hasVersion(relation, this.firmware) ? 'met' : 'refused';
  }

  /** Whether a package that refuses this refuses the device. */
  isRefusedBy(relation: Relation): boolean {
    return relation.name === 'firmware' && this.firmware !== null && hasVersion(relation, this.firmware);
  }
}
