// Package schemas embeds the JSON schemas of all that users write, for editors: kinds, blueprints,
// configurations of deployers, and the files of landscapes without a cluster. They are generated from the CRDs
// and from the comments of the Go types.
package schemas

import "embed"

// Files holds the schemas, one file for each; landscaper.json chooses among them by apiVersion and kind.
//
//go:embed *.json
var Files embed.FS

// Any is the name of the schema that chooses among the others.
const Any = "landscaper"
