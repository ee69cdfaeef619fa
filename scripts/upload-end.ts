import { DestinationBusy, NoDestination, UploadError } from '../src/uploading/upload-error.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFailure, UsageError } from './options.ts';

/** What ended an upload, as an error that has an exit code; what it cannot be told by is given back as it is. */
export const toCommandFailure = (error: unknown): unknown => {
  if (error instanceof NoDestination) return new UsageError(error.message, { cause: error });
  if (error instanceof DestinationBusy) return new CommandFailure(error.message, exitCodes.busy, { cause: error });
  if (error instanceof UploadError) return new CommandFailure(error.message, exitCodes.nothingUsable, { cause: error });
  return error;
};
