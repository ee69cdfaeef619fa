/** The path at which a Worker gives its operator the download counts. */
export const downloadTotalsPath = '/v2/operator/downloads';
