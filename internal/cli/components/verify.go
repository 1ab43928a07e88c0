package components

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

type verifyFlags struct {
	commonFlags
	signature              string
	publicKey, authorities string
	issuer                 string
}

// verified is the result for programs.
type verified struct {
	Component string `json:"component"`
	Signature string `json:"signature"`
	Digest    string `json:"digest"`
}

func newVerifyCommand(streams terminal.Streams) *cobra.Command {
	f := &verifyFlags{}
	command := &cobra.Command{
		Use:   "verify REPOSITORY COMPONENT VERSION",
		Short: "Check the signature of a component version",
		Long: `Check a signature of a component version. The contents of all resources are read, also
those of the component versions that it refers to, and compared with what was signed.

The key of the signer comes from --public-key, or from the certificate in the
signature, which must be for code signing and lead to one of the authorities in
--ca-cert, and with --issuer for this distinguished name. One of them is needed.

` + help,
		Example: `  landscaper-cli components verify registry.example.org/delivery example.org/shop/web 1.4.2 --signature shop --public-key shop.pub`,
		Args:    terminal.Arguments(needsTarget()),
		RunE: func(command *cobra.Command, args []string) error {
			trust, err := f.trust()
			if err != nil {
				return terminal.Usage(err)
			}
			return f.withTarget(command.Context(), streams, args, func(ctx context.Context, o *opened) error {
				return f.verify(ctx, streams, o.session, o.version, trust)
			})
		},
	}
	f.add(command, outputText, outputJSON, outputYAML)
	flags := command.Flags()
	flags.StringVarP(&f.signature, "signature", "s", "", "name of the signature (default: the only one)")
	flags.StringVarP(&f.publicKey, "public-key", "k", "", "`file` with the public key of the signer (PEM)")
	flags.StringVar(&f.authorities, "ca-cert", "", "`file` with the authorities that may issue the certificate of the signer (PEM)")
	flags.StringVar(&f.issuer, "issuer", "", "distinguished `name` that the certificate of the signer must be for, such as CN=release,O=shop")
	return command
}

func (f *verifyFlags) trust() (signature.Trust, error) {
	trust := signature.Trust{Issuer: f.issuer}
	if f.publicKey != "" && f.issuer != "" {
		return trust, errors.New("--issuer is about the certificate of the signer, and --public-key needs none: leave one of them out")
	}
	for _, file := range []struct {
		flag, name string
		into       *[]byte
	}{{"--public-key", f.publicKey, &trust.PublicKey}, {"--ca-cert", f.authorities, &trust.Authorities}} {
		if file.name == "" {
			continue
		}
		text, err := os.ReadFile(file.name)
		if err != nil {
			return trust, fmt.Errorf("%s: %w", file.flag, err)
		}
		*file.into = text
	}
	if err := trust.Check(); err != nil {
		return trust, fmt.Errorf("%w: name the key of the signer with --public-key, or the authorities for signers with --ca-cert", err)
	}
	return trust, nil
}

func (f *verifyFlags) verify(ctx context.Context, streams terminal.Streams, session *repositories.Session, version *repository.Version, trust signature.Trust) error {
	names := elementNames(version.Signatures, func(s descriptor.Signature) string { return s.Name })
	switch {
	case len(names) == 0:
		return terminal.Exitf(terminal.ExitNotFound, "the component version %s:%s has no signature", version.Name, version.Version)
	case f.signature == "" && len(names) > 1:
		return terminal.Usage(fmt.Errorf("choose a signature with --signature%s", repositories.Listed(names)))
	case f.signature != "" && !slices.ContainsFunc(version.Signatures, func(s descriptor.Signature) bool { return s.Name == f.signature }):
		return terminal.Exitf(terminal.ExitNotFound, "the component version %s:%s has no signature %q%s", version.Name, version.Version, f.signature, repositories.Listed(names))
	case f.signature == "":
		f.signature = version.Signatures[0].Name
	}
	if err := session.Verify(ctx, version, f.signature, trust); err != nil {
		return err
	}
	result := verified{Component: version.Name + ":" + version.Version, Signature: f.signature}
	for _, s := range version.Signatures {
		if s.Name == f.signature {
			result.Digest = s.Digest.HashAlgorithm + ":" + s.Digest.Value
		}
	}
	if f.output != outputText {
		return writeDocument(streams.Out, f.output, result)
	}
	fmt.Fprintf(streams.Out, "Verified signature %s of %s (%s)\n", terminal.Printable(result.Signature), result.Component, result.Digest)
	return nil
}
