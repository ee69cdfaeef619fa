/** Why something cannot be uploaded, as a sentence that says what to do. */
export class UploadError extends Error {
  override name = 'UploadError';
}

/** Somebody else is uploading to the same destination. */
export class DestinationBusy extends UploadError {
  override name = 'DestinationBusy';
}

/** What was to be replaced is no longer what it was. */
export class Conflict extends Error {
  override name = 'Conflict';
}

/** The destination that was named cannot be one. */
export class NoDestination extends UploadError {
  override name = 'NoDestination';
}
