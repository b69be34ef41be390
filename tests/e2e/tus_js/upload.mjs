// Uploads a file with tus-js-client, as somebody would who never saw our code.
//
//     node upload.mjs URL KEY FILE SHA256 [STOP_AT]
//
// Prints the upload's URL. STOP_AT: the process ends when so many bytes were accepted; the URL is kept
// in FILE.tus, and the next start goes on from there.

import { createReadStream, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as tus from 'tus-js-client'

const [endpoint, key, file, sha256, stopAt] = process.argv.slice(2)
const kept = `${file}.tus`

const upload = new tus.Upload(createReadStream(file), {
  endpoint,
  uploadUrl: existsSync(kept) ? readFileSync(kept, 'utf8') : null,
  uploadSize: statSync(file).size,
  chunkSize: 1_000_000,
  headers: { Authorization: `Bearer ${key}` },
  metadata: { filename: basename(file), sha256 },
  overridePatchMethod: process.env.OVERRIDE === 'yes',
  retryDelays: [0, 500, 1000],
  onUploadUrlAvailable: () => writeFileSync(kept, upload.url),
  onChunkComplete: (_, accepted) => {
    if (stopAt && accepted >= Number(stopAt)) process.exit(3)
  },
  onError: (error) => {
    console.error(String(error))
    process.exit(1)
  },
  onSuccess: () => console.log(upload.url),
})
upload.start()
