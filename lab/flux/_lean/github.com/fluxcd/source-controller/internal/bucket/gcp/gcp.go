package gcp

import "github.com/fluxcd/source-controller/internal/bucket/lean"

type (
	Client = lean.Client
	Option = lean.Option
)

var (
	WithSecret     = lean.WithSecret
	WithProxyURL   = lean.WithProxyURL
	WithAuth       = lean.WithAuth
	ValidateSecret = lean.ValidateSecret
	NewClient      = lean.NewClient
)
