package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/lab/internal/fault"
	"go.landscaper.dev/lab/internal/report"
)

const faultExamples = `  # work through the proxy (it is started when first needed)
  export KUBECONFIG=$(lab kubeconfig target --through-proxy)

  # a third of the updates of ConfigMaps conflicts; the same third with the same seed
  lab fault add target --rule conflicts --verbs update,patch --resources configmaps --share 0.33 --status 409 --seed 7

  # slow lists, lost answers (the request takes effect), cut connections, stalled watches
  lab fault add target --verbs list --delay 500ms
  lab fault add target --verbs create --resources secrets --times 1 --lose
  lab fault add target --verbs get,list --share 0.1 --cut
  lab fault add target --rule stall --resources pods --stall
  lab fault remove target stall        # the watches go on where they were
  lab fault cut target                 # all open connections, now

  lab fault show target
  lab fault log target                 # every decision, as JSON lines
  lab fault clear target`

// proxyOf gives a cluster's fault proxy and a client for it.
type proxyOf func(ctx context.Context, cluster string) (report.Proxy, *fault.Client, error)

func newFault(s *settings) *cobra.Command {
	command := &cobra.Command{
		Use:     "fault",
		Short:   "Make requests through a cluster's fault proxy fail",
		Example: faultExamples,
	}
	proxy := proxyOf(s.proxy)
	command.AddCommand(newFaultAdd(proxy), newFaultRemove(proxy), newFaultShow(proxy), newFaultSet(proxy),
		newFaultClear(proxy), newFaultCut(proxy), newFaultLog(proxy))
	return command
}

func (s *settings) proxy(ctx context.Context, cluster string) (report.Proxy, *fault.Client, error) {
	client, err := s.client()
	if err != nil {
		return report.Proxy{}, nil, err
	}
	access, err := client.Proxy(ctx, cluster)
	if err != nil {
		return report.Proxy{}, nil, err
	}
	lab, err := client.Lab(ctx)
	if err != nil {
		return report.Proxy{}, nil, err
	}
	admin, err := fault.NewClient(access.Admin, access.AdminToken, lab.Clusters[cluster].CAFile)
	return access, admin, err
}

// change reads the rules, lets them be changed, and stores and prints them.
func change(command *cobra.Command, cluster string, proxy proxyOf, edit func(*fault.Rules) error) error {
	_, client, err := proxy(command.Context(), cluster)
	if err != nil {
		return err
	}
	rules, err := client.Rules(command.Context())
	if err != nil {
		return err
	}
	if err := edit(&rules); err != nil {
		return err
	}
	if err := client.SetRules(command.Context(), rules); err != nil {
		return err
	}
	return printJSON(command.OutOrStdout(), rules)
}

type faultFlags struct {
	rule             fault.Rule
	delay            time.Duration
	cut, lose, stall bool
	seed             uint64
}

func newFaultAdd(proxy proxyOf) *cobra.Command {
	f := &faultFlags{}
	command := &cobra.Command{
		Use: "add CLUSTER", Short: "Add a rule", Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.setAction(); err != nil {
				return err
			}
			return change(command, args[0], proxy, func(rules *fault.Rules) error {
				if f.rule.Name == "" {
					f.rule.Name = fmt.Sprintf("rule-%d", len(rules.Rules)+1)
				}
				if command.Flags().Changed("seed") {
					rules.Seed = f.seed
				}
				rules.Rules = append(rules.Rules, f.rule)
				return nil
			})
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.rule.Name, "rule", "", "name of the rule")
	flags.StringSliceVar(&f.rule.Verbs, "verbs", nil, "get, list, watch, create, update, patch, delete, deletecollection; default all")
	flags.StringSliceVar(&f.rule.Resources, "resources", nil, "such as configmaps, deployments.apps, deployments.apps/status, *; default all requests")
	flags.StringSliceVar(&f.rule.Namespaces, "namespaces", nil, "default all")
	flags.StringSliceVar(&f.rule.Names, "names", nil, "names of objects; default all")
	flags.Float64Var(&f.rule.Share, "share", 1, "share of the matching requests, above 0 and up to 1")
	flags.IntVar(&f.rule.Times, "times", 0, "stop after this many hits; 0 is no limit")
	flags.IntVar(&f.rule.Status, "status", 0, "answer with this HTTP status, such as 409, 429 or 500")
	flags.DurationVar(&f.delay, "delay", 0, "wait before asking the API server; with --cut, let a watch run this long")
	flags.BoolVar(&f.cut, "cut", false, "break off before the API server is asked")
	flags.BoolVar(&f.lose, "lose", false, "let the API server act, and lose its answer")
	flags.BoolVar(&f.stall, "stall", false, "hold back what watches report until the rule is removed")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of all decisions; a new seed starts all counts anew")
	return command
}

// setAction finds the one thing that the rule does.
func (f *faultFlags) setAction() error {
	f.rule.Delay = fault.Duration(f.delay)
	chosen := []string{}
	for action, wanted := range map[string]bool{
		fault.ActionStatus: f.rule.Status != 0, fault.ActionCut: f.cut, fault.ActionLose: f.lose, fault.ActionStall: f.stall,
		fault.ActionDelay: f.delay > 0 && !f.cut,
	} {
		if wanted {
			chosen = append(chosen, action)
		}
	}
	if len(chosen) != 1 {
		return errors.New("use exactly one of --status, --delay, --cut, --lose and --stall; --cut may have a --delay")
	}
	f.rule.Action = chosen[0]
	return nil
}

func newFaultRemove(proxy proxyOf) *cobra.Command {
	return &cobra.Command{
		Use: "remove CLUSTER RULE", Short: "Remove a rule", Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			return change(command, args[0], proxy, func(rules *fault.Rules) error {
				before := len(rules.Rules)
				rules.Rules = slices.DeleteFunc(rules.Rules, func(rule fault.Rule) bool { return rule.Name == args[1] })
				if len(rules.Rules) == before {
					return fmt.Errorf("there is no rule %q", args[1])
				}
				return nil
			})
		},
	}
}

func newFaultSet(proxy proxyOf) *cobra.Command {
	return &cobra.Command{
		Use: "set CLUSTER FILE", Short: "Replace all rules by those of a file in the form that show prints (- is standard input)", Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			content, err := readFileOrInput(command.InOrStdin(), args[1])
			if err != nil {
				return err
			}
			return change(command, args[0], proxy, func(rules *fault.Rules) error {
				*rules = fault.Rules{}
				if err := json.Unmarshal(content, rules); err != nil {
					return fmt.Errorf("decode the rules: %w", err)
				}
				return nil
			})
		},
	}
}

func readFileOrInput(input io.Reader, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(input)
	}
	return os.ReadFile(file)
}

func newFaultClear(proxy proxyOf) *cobra.Command {
	return &cobra.Command{
		Use: "clear CLUSTER", Short: "Remove all rules and start all counts anew", Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			return change(command, args[0], proxy, func(rules *fault.Rules) error {
				rules.Rules = nil
				return nil
			})
		},
	}
}

func newFaultShow(proxy proxyOf) *cobra.Command {
	return &cobra.Command{
		Use: "show CLUSTER", Short: "Print the rules", Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			_, client, err := proxy(command.Context(), args[0])
			if err != nil {
				return err
			}
			rules, err := client.Rules(command.Context())
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), rules)
		},
	}
}

func newFaultCut(proxy proxyOf) *cobra.Command {
	return &cobra.Command{
		Use: "cut CLUSTER", Short: "Close all connections that are open now", Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			_, client, err := proxy(command.Context(), args[0])
			if err != nil {
				return err
			}
			cut, err := client.Cut(command.Context())
			if err != nil {
				return err
			}
			return printJSON(command.OutOrStdout(), cut)
		},
	}
}

func newFaultLog(proxy proxyOf) *cobra.Command {
	return &cobra.Command{
		Use: "log CLUSTER", Short: "Print every decision, as JSON lines", Args: arguments,
		RunE: func(command *cobra.Command, args []string) error {
			access, _, err := proxy(command.Context(), args[0])
			if err != nil {
				return err
			}
			return printFile(command.OutOrStdout(), access.DecisionLog, true)
		},
	}
}
