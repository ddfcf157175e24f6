/** The texts about changes that were not saved, and sessions that ended, in English. */
export const editing = {
  rowConflict:
    '{row}: somebody else changed or deleted this row since you read it, so your change was not saved. The grid shows its present values once you discard your changes.',
  overwrite: 'Save my values anyway',
  leaveTitle: 'Leave without saving?',
  leaveText: 'Unsaved changes: {count}. They are lost if you leave this table.',
  discardAndLeave: 'Leave',
  sessionEnded: 'Your session has ended',
  sessionEndedText: 'Sign in again to go on. The page keeps what you entered.',
  screenNotLoaded: 'This screen could not be loaded',
  screenNotLoadedText: 'The console was updated since this page was opened, or the server does not answer.',
  reload: 'Reload the page',
} as const;
