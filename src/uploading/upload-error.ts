/** Why something cannot be uploaded, as a sentence that says what to do. */
export class UploadError extends Error {
  override name = 'UploadError';
}

/** Another upload to the same destination is in progress. */
export class DestinationBusy extends UploadError {
  override name = 'DestinationBusy';
}

/** The file that was to be replaced has changed meanwhile. */
export class Conflict extends Error {
  override name = 'Conflict';
}

/** The address that was given is no destination. */
export class NoDestination extends UploadError {
  override name = 'NoDestination';
}
