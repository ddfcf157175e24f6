/** Plinth cannot listen on a second port. The message is for the administrator. */
export class PortError extends Error {
  /** @param setting the setting that names the port */
  constructor(setting: string, host: string, port: number, { code, message }: NodeJS.ErrnoException) {
    const reason = code === 'EADDRINUSE' ? 'is taken' : `cannot be listened on (${code ?? message})`;
    super(`${setting} ${port} on ${host} ${reason}: set another port, or remove the setting.`);
    this.name = 'PortError';
  }
}
