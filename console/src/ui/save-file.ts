/** Offers bytes as a download. The name is a suggestion that the browser cleans. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name.split('/').at(-1) ?? 'file';
  link.click();
  // The browser keeps its own reference once the download has begun.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
