package minio

import (
	"crypto/tls"

	corev1 "k8s.io/api/core/v1"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/fluxcd/source-controller/internal/bucket/lean"
)

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

func WithTLSConfig(*tls.Config) Option                          { return Option{} }
func WithSTSSecret(*corev1.Secret) Option                       { return Option{} }
func WithSTSTLSConfig(*tls.Config) Option                       { return Option{} }
func ValidateSTSProvider(string, *sourcev1.BucketSTSSpec) error { return nil }
func ValidateSTSSecret(string, *corev1.Secret) error            { return nil }
