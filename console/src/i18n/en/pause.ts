/** The texts about paused projects, in English. */
export const pause = {
  lifecycle: 'Pause and delete',
  pauseProject: 'Pause project',
  pauseProjectQuestion:
    'Clients of {name} get 503 until you resume it. Rows, users, files and keys stay, and backups continue.',
  pauseProjectText:
    'A paused project answers requests with 503 and keeps all data. You can resume it at any time.',
  paused: 'Paused',
  pausedSince: 'The project has been paused since {time}',
  pausedText: 'Its API answers 503. SQL, settings, backups and the advisor are still available.',
  resume: 'Resume project',
  resumed: 'Project {name} serves requests again',
} as const;
