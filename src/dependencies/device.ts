import type { Relation } from '../apt/relations.ts';
import { isOfDevice } from '../compatibility/device-packages.ts';
import { hasVersion } from './matching.ts';

/** The device on which packages are installed. */
export class Device {
  /** Null if it is unknown. */
  readonly firmware: string | null;

  constructor(firmware: string | null) {
    this.firmware = firmware;
  }

  /**
   * Whether a relation names the device itself: `met`, or `refused` if the device runs another firmware. Unknown
   * properties count as met.
   */
  meets(relation: Relation): 'met' | 'refused' | undefined {
    if (!relation.readable || !isOfDevice(relation.name)) return undefined;
    if (relation.name !== 'firmware' || this.firmware === null) return 'met';
    return hasVersion(relation, this.firmware) ? 'met' : 'refused';
  }

  /** Whether this relation of a Conflicts or Breaks refuses the device. */
  isRefusedBy(relation: Relation): boolean {
    return relation.name === 'firmware' && this.firmware !== null && hasVersion(relation, this.firmware);
  }
}
