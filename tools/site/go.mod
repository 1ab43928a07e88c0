// The program that makes the documentation site of docs.
module go.landscaper.dev/tools/site

go 1.26.0

require (
	github.com/alecthomas/chroma/v2 v2.27.0
	github.com/yuin/goldmark v1.8.7
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/mod v0.41.0
)

require github.com/dlclark/regexp2/v2 v2.2.1 // indirect
