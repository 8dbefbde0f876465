// Package nbfnet reads weights that NBFNet-PyG trained (github.com/KiddoZhu/NBFNet-PyG, the authors' own program for
// NBFNet) and makes those of the model with policy full of them, which computes the same scores.
//
// Names and shapes of the tensors are the same in both. Two things differ:
//
// Relations. The rows of a state_dict are in the order in which NBFNet-PyG's dataset met the relations, base
// relations first, then their inverses. Their names are not in the file: they are given as a list.
//
// Direction. For messages of DistMult and TransE, NBFNet-PyG's fused kernel sums over the edges that leave an
// entity: along a fact (h, r, t) it sends from t to h with the embedding of r, and from h to t with that of
// the inverse of r. Here a message from h to t takes the embedding of r. So the embeddings of relations that messages
// are made with (relation, relation_linear) change place with those of the inverses; those of queries (query)
// do not. RotatE's messages, which its kernel cannot compute, are sent as here.
//
// What the file does not show is given too: the message function, and the aggregate unless it is PNA. All options that
// this model lacks and that show in the file are errors: no layer norm, concat_hidden, other depths of
// the MLP, layers of different width. An option that it lacks and that does not show is short_cut: no;
// each configuration of NBFNet-PyG has short_cut: yes.
package nbfnet
