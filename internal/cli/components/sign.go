package components

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

type signFlags struct {
	commonFlags
	how               signature.Signing
	key, certificates string
	force             bool
}

func newSignCommand(streams terminal.Streams) *cobra.Command {
	f := &signFlags{}
	command := &cobra.Command{
		Use:   "sign REPOSITORY COMPONENT VERSION",
		Short: "Sign a component version",
		Long: `Sign a component version. The digests of all contents and of all component versions that
it refers to are put into its descriptor, and then the signature. It stays where it is,
in a registry or an archive in the common transport format.

The signature is made with an RSA key; with --certificate, the certificates of the
signer and of those between him and his authority go along.

` + help,
		Example: `  landscaper-cli components sign registry.example.org/delivery example.org/shop/web 1.4.2 --signature shop --private-key shop.key
  landscaper-cli components sign ./transport.tgz example.org/shop/web 1.4.2 -s shop -k shop.key --certificate chain.pem`,
		Args: terminal.Arguments(needsTarget()),
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.read(); err != nil {
				return terminal.Usage(err)
			}
			return f.withTarget(command.Context(), streams, args, func(ctx context.Context, o *opened) error {
				return f.sign(ctx, streams, o)
			})
		},
	}
	f.add(command, outputText, outputJSON, outputYAML)
	flags := command.Flags()
	flags.StringVarP(&f.how.Name, "signature", "s", "", "name of the signature (required)")
	flags.StringVarP(&f.key, "private-key", "k", "", "`file` with the private key of the signer (PEM, required)")
	flags.StringVar(&f.certificates, "certificate", "", "`file` with the certificate of the signer, and those behind it (PEM)")
	flags.StringVar(&f.how.Algorithm, "algorithm", signature.AlgorithmPSS, signature.AlgorithmPSS+" or "+signature.AlgorithmPKCS1)
	flags.StringVar(&f.how.Hash, "hash", "SHA-256", "SHA-256 or SHA-512")
	flags.StringVar(&f.how.Normalisation, "normalisation", signature.JSONv3, strings.Join(signature.Normalisations(), ", "))
	flags.BoolVar(&f.force, "force", false, "replace a signature of the same name")
	terminal.CompleteWith(command, "hash", "SHA-256", "SHA-512")
	terminal.CompleteWith(command, "algorithm", signature.AlgorithmPSS, signature.AlgorithmPKCS1)
	terminal.CompleteWith(command, "normalisation", signature.Normalisations()...)
	return command
}

func (f *signFlags) read() error {
	if f.how.Name == "" || f.key == "" {
		return errors.New("name the signature with --signature, and the key of the signer with --private-key")
	}
	if err := f.how.Check(); err != nil {
		return err
	}
	for _, file := range []struct {
		flag, name string
		into       *[]byte
	}{{"--private-key", f.key, &f.how.Key}, {"--certificate", f.certificates, &f.how.Certificates}} {
		if file.name == "" {
			continue
		}
		text, err := os.ReadFile(file.name)
		if err != nil {
			return fmt.Errorf("%s: %w", file.flag, err)
		}
		*file.into = text
	}
	return nil
}

func (f *signFlags) sign(ctx context.Context, streams terminal.Streams, o *opened) error {
	version := o.version
	for _, existing := range version.Signatures {
		if existing.Name == f.how.Name && !f.force {
			return fmt.Errorf("the component version %s:%s has a signature %q: choose another name, or replace it with --force", version.Name, version.Version, f.how.Name)
		}
	}
	signed, err := o.session.Sign(ctx, version, f.how)
	if err != nil {
		return err
	}
	if err := f.write(ctx, o); err != nil {
		return err
	}
	result := verified{Component: version.Name + ":" + version.Version, Signature: signed.Name, Digest: signed.Digest.HashAlgorithm + ":" + signed.Digest.Value}
	if f.output != outputText {
		return writeDocument(streams.Out, f.output, result)
	}
	fmt.Fprintf(streams.Out, "Signed %s with %s (%s)\n", result.Component, terminal.Printable(result.Signature), result.Digest)
	return nil
}

// write puts the descriptor with the signature where the old one is.
func (f *signFlags) write(ctx context.Context, o *opened) error {
	at := o.target.Location
	if at.Spec.Kind != repository.KindOCI && at.Spec.Kind != repository.KindCTF {
		return terminal.Usage(fmt.Errorf("%s cannot be written to: copy the component version into a registry or an archive in the common transport format first (components copy)", at.Text))
	}
	writer, err := o.access.Writer(at)
	if err != nil {
		return err
	}
	_, err = publish.Rewrite(ctx, o.version, publish.Options{Target: writer.Target, Spec: at.Spec})
	if err == nil {
		err = writer.Finish()
	}
	return errors.Join(err, writer.Close())
}
