// Package propagation is TAGNet's message passing in float32, forward and backward by hand:
// the truncated Bellman-Ford of the paper's equation 8 with NBFNet's layers, and A*Net's
// choice of senders. It stands between the layouts of package window and the arithmetic of
// package kernel; package reference is the specification that it must agree with.
//
// What makes it fast is exact algebra. Empty messages are not sent, since they are zero. A
// layer touches the entities that listen in it, and no others. The three scalers of an
// entity's aggregate depend on its degree alone, so they are folded into one matrix per
// degree. Entities that hear the same share a state. States are kept by age, the number of layers since an entity was reached, so a
// query needs delta+1 tables of them however many layers there are.
package propagation
