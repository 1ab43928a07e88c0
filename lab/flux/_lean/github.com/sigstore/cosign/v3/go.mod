module github.com/sigstore/cosign/v3

go 1.26.0
