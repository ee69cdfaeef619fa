/** Where metrics are to be read. */
export interface MetricsAddress {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}
