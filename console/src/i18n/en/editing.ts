/** The texts about changes that were not saved, and sessions that ended, in English. */
export const editing = {
  rowConflict:
    '{row}: somebody else changed or deleted this row after you loaded it, so your change was not saved. Discard your changes to see the current values.',
  overwrite: 'Save my values anyway',
  leaveTitle: 'Leave without saving?',
  leaveText: 'Unsaved changes: {count}. They are lost if you leave this page.',
  discardAndLeave: 'Leave this page',
  sessionEnded: 'Your session has ended',
  sessionEndedText: 'Sign in again to continue. The page keeps your input.',
  otherPersonText:
    '{name} is signed in in this browser. If you continue, the content of this page and your input are discarded.',
  goOnAs: 'Continue as {name}',
  screenNotLoaded: 'This screen could not be loaded',
  screenNotLoadedText: 'The console was updated since this page was opened, or the server does not answer.',
  reload: 'Reload the page',
  listHint: 'One element per line. Enter saves, Shift+Enter inserts a line break, Escape cancels',
  asList: 'as a list',
  asText: 'as text',
  now: 'now',
  useValue: 'Use {value}',
  noSuchRow: 'No row has this key, or this identity may not see it.',
  searchSettings: 'Search settings',
  everything: 'All',
  noConnection: 'No answer from the server',
} as const;
