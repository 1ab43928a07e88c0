package spiff

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/content/template/spiff"
)

// onFile is a command on the file that its argument names.
func onFile(do func(cmd *cobra.Command, name string, text []byte) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		text, err := (&inputs{stdin: cmd.InOrStdin()}).read(args[0])
		if err != nil {
			return err
		}
		return do(cmd, args[0], text)
	}
}

func newConvert() *cobra.Command {
	f := &outputFlags{}
	cmd := &cobra.Command{
		Use:          "convert FILE",
		Short:        "Print YAML or JSON in normal form, without evaluating it",
		Example:      `  landscaper-cli spiff convert template.json`,
		Args:         commandline.Arguments,
		SilenceUsage: true,
		RunE: onFile(func(cmd *cobra.Command, name string, text []byte) error {
			docs, err := spiff.Parse(text, name)
			if err != nil {
				return err
			}
			var results []*spiff.Result
			for _, d := range docs {
				results = append(results, d.Result())
			}
			var out bytes.Buffer
			if err := f.write(cmd.Context(), nil, results, &out); err != nil {
				return err
			}
			_, err = out.WriteTo(cmd.OutOrStdout())
			return err
		}),
	}
	f.registerView(cmd)
	return cmd
}

func newDiff() *cobra.Command {
	return &cobra.Command{
		Use:          "diff BEFORE AFTER",
		Short:        "Compare two YAML files by structure; fails if they differ",
		Example:      `  landscaper-cli spiff diff before.yaml after.yaml`,
		Args:         commandline.Arguments,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &inputs{stdin: cmd.InOrStdin()}
			var sides [2][]spiff.Document
			for i, name := range args {
				text, err := in.read(name)
				if err != nil {
					return err
				}
				if sides[i], err = spiff.Parse(text, name); err != nil {
					return err
				}
			}
			differences := spiff.Diff(sides[0], sides[1])
			for _, d := range differences {
				fmt.Fprintln(cmd.OutOrStdout(), d)
			}
			if len(differences) > 0 {
				return fmt.Errorf("%d differences", len(differences))
			}
			return nil
		},
	}
}

// keyVariable is the environment variable with the default key.
const keyVariable = "SPIFF_ENCRYPTION_KEY"

func newEncrypt() *cobra.Command {
	var decrypt bool
	var key, method string
	cmd := &cobra.Command{
		Use:          "encrypt FILE",
		Short:        "Encrypt a YAML document, or decrypt it with -d",
		Example:      `  landscaper-cli spiff encrypt secret.yaml`,
		Args:         commandline.Arguments,
		SilenceUsage: true,
		RunE: onFile(func(cmd *cobra.Command, _ string, text []byte) error {
			if key == "" {
				key = os.Getenv(keyVariable)
			}
			result, err := spiff.Encrypt(cmd.Context(), text, key, method, decrypt)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), result)
			return err
		}),
	}
	cmd.Flags().BoolVarP(&decrypt, "decrypt", "d", false, "decrypt")
	cmd.Flags().StringVar(&key, "key", "", "key, by default the content of "+keyVariable)
	cmd.Flags().StringVar(&method, "method", "AES-GCM", "encryption method, AES-GCM or 3DES")
	return cmd
}
