package blueprints

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// kinds are what is to be shown.
type kinds map[string]bool

const (
	kindAll              = "all"
	kindDeployItems      = "deployitems"
	kindSubinstallations = "subinstallations"
	kindImports          = "imports"
	kindExports          = "exports"
)

var kindNames = map[string]string{
	kindDeployItems: kindDeployItems, "di": kindDeployItems,
	kindSubinstallations: kindSubinstallations, "subinst": kindSubinstallations, "inst": kindSubinstallations,
	kindImports: kindImports, kindExports: kindExports,
}

// parseKinds reads KINDS. Imports and exports of a tree are shown by default only
// where exports are known.
func parseKinds(text string, simulated bool) (kinds, error) {
	chosen := kinds{}
	for name := range strings.SplitSeq(text, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		kind, known := kindNames[name]
		switch {
		case known:
			chosen[kind] = true
		case name == kindAll:
			chosen[kindDeployItems], chosen[kindSubinstallations] = true, true
			// "all" beside another kind takes nothing away.
			chosen[kindImports], chosen[kindExports] = simulated || chosen[kindImports], simulated || chosen[kindExports]
		default:
			return nil, fmt.Errorf("unknown resource '%s': choose from all, deployitems (di), subinstallations (subinst, inst), imports, exports", name)
		}
	}
	if chosen[kindExports] && !simulated {
		return nil, errors.New("exports can only be worked out if -e says what the deploy items export")
	}
	return chosen, nil
}

// completeRender proposes files for SOURCE, and then the names in KINDS.
func completeRender(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return nil, cobra.ShellCompDirectiveDefault
	case 1:
		before := begun[:strings.LastIndex(begun, ",")+1]
		var proposals []string
		for _, kind := range []string{kindAll, kindDeployItems, kindSubinstallations, kindImports, kindExports} {
			proposals = append(proposals, before+kind)
		}
		return proposals, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
