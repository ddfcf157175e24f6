/** The five-minute tour of README.md, for the page /tour. A test compares titles, texts and commands. */

export interface TourStep {
  readonly title: string;
  readonly text: string;
  /** Lines for bash or zsh. */
  readonly shell: string;
}

/**
 * @param base address of this installation, without a trailing slash
 * @param commandLine the command that starts the command line on this machine
 */
export function tourSteps(base: string, commandLine: string): TourStep[] {
  return [
    {
      title: 'Set the URL and the key',
      text: `The first start created a project named demo. This command shows its id and its keys: ${commandLine} project keys demo`,
      shell: `BASE=${base}
ID=...                      # project id
KEY=...                     # anon key`,
    },
    {
      title: 'Sign up',
      text: 'The anon key identifies the project. The response contains a session. To sign in later, use /login instead of /signup.',
      shell: `curl -s $BASE/v1/auth/$ID/signup -H "apikey: $KEY" -H 'Content-Type: application/json' \\
  -d '{"email":"ada@example.com","password":"correct horse","name":"Ada"}'

TOKEN=...                   # access_token in the response
H=(-H "apikey: $KEY" -H "Authorization: Bearer $TOKEN")`,
    },
    {
      title: 'Write and read rows',
      text: 'The demo project has a table todos. Its policy lets users read and write their own rows only. With the anon key alone, the table appears empty.',
      shell: `curl -s $BASE/rest/v1/todos "\${H[@]}" -H 'Content-Type: application/json' -d '{"title":"Try Plinth"}'
curl -s "$BASE/rest/v1/todos?done=is.false&select=id,title&order=id.desc&limit=10" "\${H[@]}"
curl -s "$BASE/rest/v1/todos?title=eq.Try%20Plinth" "\${H[@]}" -X PATCH -H 'Content-Type: application/json' -d '{"done":true}'

curl -s $BASE/rest/v1/todos -H "apikey: $KEY" -H "Authorization: Bearer $KEY"     # []`,
    },
    {
      title: 'Upload and share a file',
      text: 'The bucket files belongs to the project, and every signed-in user can upload to it. The signed URL in the last response gives access to the file for an hour, without any header.',
      shell: `echo 'Hello from Plinth' > hello.txt
curl -s $BASE/p/demo/storage/buckets/files/upload "\${H[@]}" -F file=@hello.txt

FILE=...                    # data.id in the response
curl -s $BASE/p/demo/storage/files/$FILE/signed-url "\${H[@]}" -H 'Content-Type: application/json' -d '{"expiry":"1h"}'`,
    },
  ];
}
