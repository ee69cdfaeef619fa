/** Where a Worker tells its operator how often packages were downloaded. */
export const downloadTotalsPath = '/v2/operator/downloads';
