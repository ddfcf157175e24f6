/** Texts about paused projects. */
export const pause = {
  lifecycle: 'Pause and delete',
  pauseProject: 'Pause project',
  pauseProjectQuestion:
    'Clients of {name} get 503 until it is resumed. Rows, users, files and keys stay, and backups go on.',
  pauseProjectText: 'Its API answers 503, and all data stays. You can resume it at any time.',
  paused: 'Paused',
  pausedSince: 'The project is paused since {time}',
  pausedText: 'Its API answers 503. SQL, settings, backups and the advisor work on.',
  resume: 'Resume',
  resumed: 'The project serves requests again',
} as const;
