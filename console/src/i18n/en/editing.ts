/** The texts about changes that were not saved, and sessions that ended, in English. */
export const editing = {
  rowConflict:
    '{row}: somebody else changed or deleted this row since you read it, so your change was not saved. The grid shows its present values once you discard your changes.',
  overwrite: 'Save my values anyway',
  leaveTitle: 'Leave without saving?',
  leaveText: 'Unsaved changes: {count}. They are lost if you leave this page.',
  discardAndLeave: 'Leave',
  sessionEnded: 'Your session has ended',
  sessionEndedText: 'Sign in again to go on. The page keeps what you entered.',
  otherPersonText:
    '{name} is signed in in this browser. Going on gives up what this page shows and what was entered in it.',
  goOnAs: 'Go on as {name}',
  screenNotLoaded: 'This screen could not be loaded',
  screenNotLoadedText: 'The console was updated since this page was opened, or the server does not answer.',
  reload: 'Reload the page',
  listHint: 'One element a line. Enter saves, Shift+Enter starts a line, Escape leaves',
  asList: 'as a list',
  asText: 'as text',
  now: 'now',
  useValue: 'Use {value}',
  noSuchRow: 'There is no row with this key, or the identity may not see it.',
  searchSettings: 'Search settings',
  everything: 'All',
  noConnection: 'No answer from the server',
} as const;
